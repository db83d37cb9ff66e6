// Changes of a training that does not fit, each of which makes it fit.
#pragma once
#include <vector>

#include "plan/search.h"

namespace tidemark::plan {

/// Up to `most`, in the order of what changes the training least: allocator, checkpointing, batch, adapters, nf4,
/// length.
std::vector<Remedy> remedies_of(const Spec& spec, const Oracle& oracle, std::size_t most = 3);

}  // namespace tidemark::plan
