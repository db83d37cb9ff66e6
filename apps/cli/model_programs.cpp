#include "model_programs.h"

#include "files.h"

namespace tidemark::cli {

answers::ProgramsOf programs_of(Asked& asked) {
  capture_unknown(asked);
  if (!asked.family_file.empty())
    return answers::programs_of_family({asked.family_file, read_file(asked.family_file)}, asked.family_config);
  return answers::programs_as_they_are(std::make_shared<const std::vector<Program>>(std::move(asked.programs)));
}

}  // namespace tidemark::cli
