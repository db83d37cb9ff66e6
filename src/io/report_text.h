// A report for a terminal: the verdict, then at most 25 lines.
#pragma once
#include <string>

#include "estimate/report.h"

namespace tidemark::io {

std::string report_to_text(const Report& report);

/// Lines on the cache of keys and values of each sample.
std::string kv_cache_text(const KvCacheReport& cache);

}  // namespace tidemark::io
