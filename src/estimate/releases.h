// Which releases of torch and transformers predictions follow, and which of them answers for another one.
#pragma once
#include <string>
#include <string_view>

namespace tidemark {

struct TorchRules;

struct KnownRelease {
  std::string version;
  std::string assumption;  // empty when it is the one that was asked for
};

/// For "2.11.0", "2.12.0.dev20260101+cu130" and the like; for an empty text the newest that is known.  Of a
/// release that is not known the nearest before it answers, or the oldest; of torch, a patch behaves as its release.
KnownRelease known_torch(std::string_view asked);
/// The rules of the release that answers for it.
const TorchRules& known_torch_rules(std::string_view asked);
/// For a model that was captured of the release `captured`, which answers for all others; those of `equal_on`
/// ("5.24.0 5.25.1") have been compared with it, and nothing differs.
KnownRelease captured_transformers(std::string_view captured, std::string_view equal_on, std::string_view asked);

/// Whether it begins with two or three numbers, and goes on as versions do.
bool is_version(std::string_view text);

}  // namespace tidemark
