// What is made of a list of fields (base/fields.h): for editors a JSON Schema, for people a table.
#pragma once
#include <string>
#include <vector>

#include "base/fields.h"

namespace tidemark::io {

/// An object with these properties and no others.
Value schema_of_fields(const std::vector<FieldDescription>& fields);

/// Rows of Markdown, a heading and a table per group; `prefix` stands before each name.
std::string table_of_fields(const std::vector<FieldDescription>& fields, const std::string& prefix = {});

}  // namespace tidemark::io
