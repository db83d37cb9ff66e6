// Models by their name on the Hugging Face hub: first in the local cache, then by the user's own huggingface_hub.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "environment.h"

namespace tidemark::cli {

/// NAME or ORG/NAME; nothing that looks like a file.
bool may_be_hub_name(std::string_view text);

/// The model's config.json.  With `offline`, HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE nothing but the cache is asked.
/// Throws Error{not_found} that says why: gated, unknown, no network, and which cached name is near.
std::filesystem::path hub_config(const std::string& name, bool offline, const Environment& environment);

}  // namespace tidemark::cli
