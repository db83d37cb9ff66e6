#include "efficiencies.h"

#include "files.h"
#include "io/efficiency_json.h"

namespace tidemark::cli {

plan::EfficiencyTable load_efficiencies(const std::filesystem::path& data) {
  plan::EfficiencyTable table = io::read_efficiency(read_file(data / "efficiency.json"), "efficiency.json");
  constexpr const char* kResiduals = "step_time_residuals.json";
  io::read_step_time_residuals(read_file(data / kResiduals), kResiduals, table);
  return table;
}

}  // namespace tidemark::cli
