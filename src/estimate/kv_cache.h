// Bytes that a decoder's cache of keys and values takes of each sample, by its configuration.
#pragma once
#include <optional>

#include "estimate/report.h"
#include "program/program.h"
#include "tensor/dtype.h"

namespace tidemark {

/// As transformers' DynamicCache holds them; none of encoders, and of layers of other kinds.  The program has the
/// numbers that the configuration leaves to its class.
std::optional<KvCacheReport> kv_cache_of(const Program& program, Dtype dtype);

}  // namespace tidemark
