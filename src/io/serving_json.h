// The block `serving` of a report as JSON.
#pragma once
#include "estimate/report.h"
#include "io/json_reader.h"

namespace tidemark::io {

ServingReport read_serving(ObjectReader reader);
Json serving_to_json(const ServingReport& serving);

}  // namespace tidemark::io
