#include "io/value_builder.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/error.h"
#include "base/value_reader.h"

namespace tidemark::io {
namespace {

// Deeper nesting is no configuration, and would exhaust the stack of whoever walks through it.
constexpr std::size_t kMaxNesting = 32;

}  // namespace

void ValueBuilder::begin(Value value, int line) {
  if (open_.size() == kMaxNesting)
    throw Error(Errc::bad_file, "it is nested too deeply", ValuePath{where_, {}}.text(line));
  value.at_line(line);
  open_.push_back({std::move(value), {}, false, {}});
}

void ValueBuilder::key(std::string name, int line) {
  Open& top = open_.back();
  if (const auto [before, is_new] = top.lines.emplace(name, line); !is_new) {
    const std::string first = line > 0 ? fmt::format("it stands in line {} already", before->second) : "";
    throw Error(Errc::bad_file, fmt::format("the key {} is given twice", Value(name).quoted()),
                ValuePath{where_, {}}.text(line), first);
  }
  top.key = std::move(name);
  top.has_key = true;
}

void ValueBuilder::end() {
  TM_CHECK(!open_.empty(), "a parser closed what it had not opened");
  Value done = std::move(open_.back().value);
  open_.pop_back();
  const int line = done.line();
  scalar(std::move(done), line);
}

void ValueBuilder::scalar(Value value, int line) {
  value.at_line(line);
  if (open_.empty()) {
    result_ = std::move(value);
    return;
  }
  Open& top = open_.back();
  if (top.value.as_map()) {
    top.value.append(std::move(top.key), std::move(value));
    top.has_key = false;
  } else {
    top.value.append(std::move(value));
  }
}

}  // namespace tidemark::io
