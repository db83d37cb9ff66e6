// What may stand in a spec, made from the fields of Spec: for editors as JSON Schema, for people as a table.
#pragma once
#include <string>

namespace tidemark::io {

/// docs/reference/spec.schema.json
std::string spec_schema();

/// docs/reference/spec.md
std::string spec_page();

}  // namespace tidemark::io
