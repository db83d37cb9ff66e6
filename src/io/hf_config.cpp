#include "io/hf_config.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/value_reader.h"
#include "io/value_json.h"

namespace tidemark::io {
namespace {

constexpr std::array<std::string_view, 3> kNotNumbers{"-Infinity", "Infinity", "NaN"};

// Outside of texts alone.
std::string without_infinities(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  bool inside_text = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto* name = std::find_if(kNotNumbers.begin(), kNotNumbers.end(),
                                    [&](std::string_view one) { return text.substr(at).starts_with(one); });
    if (!inside_text && name != kNotNumbers.end()) {
      result += "null";
      at += name->size() - 1;
      continue;
    }
    if (text[at] == '"') inside_text = !inside_text;
    result += text[at];
    if (inside_text && text[at] == '\\' && at + 1 < text.size()) result += text[++at];
  }
  return result;
}

}  // namespace

Value read_hf_config(std::string_view text, const std::string& where) {
  Value config = value_from_json(without_infinities(text), where);
  check_hf_config(config, where);
  return config;
}

void check_hf_config(const Value& config, const std::string& where) {
  const auto refuse = [&](std::string message, std::string hint) {
    throw Error(Errc::bad_file, std::move(message), where, std::move(hint));
  };
  if (!config.as_map()) refuse("expected a map, found " + config.quoted(), "is it a model's config.json?");
  const Value* type = config.find("model_type");
  if (!type || !type->as_text() || type->as_text()->empty())
    refuse("\"model_type\" is missing", "is it a model's config.json?");
}

}  // namespace tidemark::io
