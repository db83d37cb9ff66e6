// The captured programs of a model for whatever spec a search comes to.
#pragma once
#include "answers/family_programs.h"
#include "spec_options.h"

namespace tidemark::cli {

/// Of a family that is shipped, its program; of a model that was captured or named by --program, that; none of a family
/// that the engine knows itself.  May be called by several threads.
answers::ProgramsOf programs_of(Asked& asked);

}  // namespace tidemark::cli
