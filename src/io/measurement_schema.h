// What may stand in the files of a corpus, made from their fields: for editors as JSON Schema, for people as a page.
#pragma once
#include <string>

namespace tidemark::io {

/// docs/reference/measurements.schema.json: $defs corpus, row and prediction.
std::string measurement_schema();

/// docs/reference/measurements.md
std::string measurement_page();

}  // namespace tidemark::io
