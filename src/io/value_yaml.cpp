#include "io/value_yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>

#include "base/error.h"
#include "base/value_reader.h"
#include "io/value_builder.h"

namespace tidemark::io {
namespace {

constexpr std::size_t kMaxSpecBytes = 1 << 20;  // a spec has a few lines

int line_of(const YAML::Mark& mark) { return mark.is_null() ? 0 : mark.line + 1; }

template <class Number>
bool parse_whole(std::string_view text, int base, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end == text.data() + text.size();
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), text) != names.end();
}

// -1.5e3, but not 1_000, 1e, or a lone point.  The grammar is YAML 1.2's, section 10.3.2.
bool looks_like_number(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const bool starts =
      !text.empty() && (std::isdigit(static_cast<unsigned char>(text[0])) ||
                        (text[0] == '.' && text.size() > 1 && std::isdigit(static_cast<unsigned char>(text[1]))));
  return starts && text.find_first_not_of("0123456789.eE+-") == std::string_view::npos;
}

// Nothing when the number is written right and too large.
std::optional<Value> plain_scalar(const std::string& text) {
  if (is_one_of(text, {"", "~", "null", "Null", "NULL"})) return Value();
  if (is_one_of(text, {"true", "True", "TRUE"})) return true;
  if (is_one_of(text, {"false", "False", "FALSE"})) return false;
  std::int64_t whole = 0;
  const std::string_view digits = std::string_view(text).substr(text[0] == '+' ? 1 : 0);
  if (parse_whole(digits, 10, whole)) return whole;
  if (text.starts_with("0x") && parse_whole(digits.substr(2), 16, whole)) return whole;
  if (text.starts_with("0o") && parse_whole(digits.substr(2), 8, whole)) return whole;
  if (!looks_like_number(text)) return text;
  if (digits.find_first_of(".eE") == std::string_view::npos && digits.find_last_of("+-") == std::string_view::npos)
    return std::nullopt;
  double real = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), real);
  if (end != digits.data() + digits.size()) return text;
  if (error != std::errc() || !std::isfinite(real)) return std::nullopt;
  return real;
}

// An event handler instead of YAML::Node: nodes share what an alias names, so walking a small file could take for ever,
// and they keep two equal keys.
class YamlEvents : public YAML::EventHandler {
 public:
  explicit YamlEvents(const std::string& where) : where_(where), builder_(where) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { OnScalar(mark, "?", anchor, ""); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { refuse(mark, "aliases (*name) are not read"); }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    check(mark, tag, anchor);
    if (builder_.wants_key()) return builder_.key(text, line_of(mark));
    std::optional<Value> value = tag == "!" ? Value(text) : plain_scalar(text);
    if (!value) refuse(mark, fmt::format("the number {} is too large", Value(text).quoted()));
    builder_.scalar(std::move(*value), line_of(mark));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    check(mark, tag, anchor);
    if (builder_.wants_key()) refuse(mark, "a list cannot be a key");
    builder_.begin_list(line_of(mark));
  }
  void OnSequenceEnd() override { builder_.end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    check(mark, tag, anchor);
    if (builder_.wants_key()) refuse(mark, "a map cannot be a key");
    builder_.begin_map(line_of(mark));
  }
  void OnMapEnd() override { builder_.end(); }

  Value take() { return builder_.take(); }

  [[noreturn]] void refuse(const YAML::Mark& mark, std::string message) const {
    throw Error(Errc::bad_file, std::move(message), ValuePath{where_, {}}.text(line_of(mark)));
  }

 private:
  void check(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) const {
    if (anchor != 0) refuse(mark, "anchors (&name) are not read");
    if (!is_one_of(tag, {"", "?", "!"})) refuse(mark, fmt::format("tags ({}) are not read", Value(tag).quoted()));
  }

  std::string where_;
  ValueBuilder builder_;
};

}  // namespace

Value value_from_yaml(std::string_view text, const std::string& where) {
  if (text.size() > kMaxSpecBytes) throw Error(Errc::bad_file, "it is too large for a spec", where);
  std::istringstream stream{std::string(text)};
  YamlEvents events(where);
  try {
    YAML::Parser parser(stream);
    parser.HandleNextDocument(events);
    Value value = events.take();
    YamlEvents second(where);
    if (parser.HandleNextDocument(second) && !second.take().is_null())
      throw Error(Errc::bad_file, "it holds more than one document", where);
    return value;
  } catch (const YAML::Exception& error) {
    throw Error(Errc::bad_file, "it is not YAML: " + error.msg, ValuePath{where, {}}.text(line_of(error.mark)));
  }
}

}  // namespace tidemark::io
