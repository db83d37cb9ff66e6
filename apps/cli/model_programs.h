// The captured programs of a model for whatever spec a search comes to.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "spec_options.h"

namespace tidemark::cli {

using Programs = std::shared_ptr<const std::vector<Program>>;

/// Of a family that is shipped, its program bound for each way of running it, once; of a model that was captured or
/// named by --program, that; none of a family that the engine knows itself.  May be called by several threads.
std::function<Programs(const Spec&)> programs_of(Asked& asked);

}  // namespace tidemark::cli
