// What cards reach of their peak rates, from the files that come with Tidemark.
#pragma once
#include <filesystem>

#include "plan/efficiency.h"

namespace tidemark::cli {

plan::EfficiencyTable load_efficiencies(const std::filesystem::path& data);

}  // namespace tidemark::cli
