// Changes of a training that does not fit, each of which makes it fit.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "estimate/report.h"
#include "estimate/spec.h"

namespace tidemark::plan {

/// Device bytes of a training that fits; nothing where it does not fit, or cannot be simulated.
using FittingBytes = std::function<std::optional<std::int64_t>(const Spec&)>;

/// Up to `most`, in the order of what changes the training least: allocator, checkpointing, batch, adapters, nf4,
/// length.
std::vector<Remedy> remedies_of(const Spec& spec, const FittingBytes& fitting_bytes, std::size_t most = 3);

}  // namespace tidemark::plan
