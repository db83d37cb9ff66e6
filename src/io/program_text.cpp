#include "io/program_text.h"

#include "io/value_json.h"

namespace tidemark::io {

Program read_program_text(std::string_view text, const std::string& name) {
  return read_program(text, name,
                      [](std::string_view json, const std::string& where) { return value_from_json(json, where); });
}

}  // namespace tidemark::io
