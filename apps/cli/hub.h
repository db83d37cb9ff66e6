// Models by their name on the Hugging Face hub: in the local cache, then by the user's own huggingface_hub, then among
// those that are bundled.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "environment.h"

namespace tidemark::cli {

/// NAME or ORG/NAME; nothing that looks like a file.
bool may_be_hub_name(std::string_view text);

/// The model's config.json.  With `offline`, HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE the hub is not asked.
/// Throws Error{not_found} that says why: gated, unknown, no network, and which cached or bundled name is near.
std::filesystem::path hub_config(const std::string& name, bool offline, const Environment& environment);

}  // namespace tidemark::cli
