#include "answers/error_answer.h"

#include "answers/question.h"

namespace tidemark::answers {
namespace {

Value error_map(std::string_view code, std::string_view message, const std::string& where, const std::string& hint) {
  return Value::Map{{"code", code}, {"message", message}, {"where", where}, {"hint", hint}, {"bug", code == "bug"}};
}

}  // namespace

Value error_value(const Error& error) {
  Value map = error_map(name_of(error.code()), error.message(), error.where(), error.hint());
  if (dynamic_cast<const NotCaptured*>(&error)) map.set("can_be_captured", true);
  return Value::Map{{"error", std::move(map)}};
}

Value error_value_of_bug(std::string_view what) {
  return Value::Map{{"error", error_map("bug", what, {}, "please report it")}};
}

}  // namespace tidemark::answers
