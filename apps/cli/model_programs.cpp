#include "model_programs.h"

namespace tidemark::cli {

answers::ProgramsOf programs_of(Asked& asked) {
  capture_unknown(asked);
  return asked.family ? answers::programs_of_family(*asked.family, asked.model_config) : answers::programs_as_they_are(asked.programs);
}

}  // namespace tidemark::cli
