#include "io/spec_json.h"

#include "io/value_json.h"

namespace tidemark::io {

Spec read_spec_json(std::string_view text, const std::string& where) {
  return read_spec(value_from_json(text, where), where);
}

std::string write_spec_json(const Spec& spec) { return value_to_json(write_fields(spec)); }

}  // namespace tidemark::io
