#include "io/program_text.h"

#include "io/value_json.h"

namespace tidemark::io {
namespace {

Value read_value(std::string_view json, const std::string& where) { return value_from_json(json, where); }

}  // namespace

Program read_program_text(std::string_view text, const std::string& name) {
  return read_program(text, name, read_value);
}

Program read_family_text(std::string_view text, const std::string& name, const Value& config, const FamilyUse& use) {
  return read_family(text, name, read_value, config, use);
}

std::map<std::string, Value> family_key_values(std::string_view text, const std::string& name, const Value& config,
                                               const FamilyUse& use) {
  return tidemark::family_key_values(text, name, read_value, config, use);
}

}  // namespace tidemark::io
