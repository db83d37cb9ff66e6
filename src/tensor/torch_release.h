// The releases of PyTorch whose rules are known.  What the rules are is in tensor/torch_rules.h, for those who read
// them.
#pragma once
#include <string_view>
#include <vector>

namespace tidemark {

struct TorchRules;

/// The versions that have been compared with the real ones, oldest first.
std::vector<std::string_view> known_torch_versions();

/// Those of the release that a version belongs to, whichever patch of it; else of the nearest one that is known.
const TorchRules& torch_rules(std::string_view version);

/// Those of the release that the recordings in this repository are of.
const TorchRules& torch_rules();

}  // namespace tidemark
