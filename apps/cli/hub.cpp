#include "hub.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <vector>

#include "active_python.h"
#include "base/did_you_mean.h"
#include "base/error.h"
#include "bundled_models.h"
#include "files.h"
#include "process.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

/// huggingface_hub.constants.HF_HUB_CACHE
fs::path cache_folder(const Environment& environment) {
  const auto said = [&](const char* name) { return environment.get(name).value_or(""); };
  for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"})
    if (!said(name).empty()) return said(name);
  if (!said("HF_HOME").empty()) return fs::path(said("HF_HOME")) / "hub";
  const std::string caches = said("XDG_CACHE_HOME").empty() ? said("HOME") + "/.cache" : said("XDG_CACHE_HOME");
  return fs::path(caches) / "huggingface" / "hub";
}

/// huggingface_hub.constants.HF_HUB_OFFLINE
bool is_offline(const Environment& environment) {
  for (const char* name : {"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"}) {
    std::string value = environment.get(name).value_or("");
    std::transform(value.begin(), value.end(), value.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    if (value == "1" || value == "ON" || value == "YES" || value == "TRUE") return true;
  }
  return false;
}

constexpr std::string_view kFolder = "models--";

/// "models--org--name"
std::string folder_of(std::string name) {
  if (const std::size_t slash = name.find('/'); slash != std::string::npos) name.replace(slash, 1, "--");
  return std::string(kFolder) + name;
}

std::vector<std::string> cached_names(const fs::path& cache) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(cache, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename().string();
    if (!name.starts_with(kFolder)) continue;
    name.erase(0, kFolder.size());
    if (const std::size_t dashes = name.find("--"); dashes != std::string::npos) name.replace(dashes, 2, "/");
    names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// refs/main names a revision, whose files are links under snapshots/.
std::optional<fs::path> cached_config(const fs::path& cache, const std::string& name) {
  const fs::path model = cache / folder_of(name), main = model / "refs" / "main";
  std::error_code ignored;
  if (!fs::exists(main, ignored)) return std::nullopt;
  std::istringstream text(read_file(main));
  std::string revision;
  text >> revision;
  const fs::path config = model / "snapshots" / revision / "config.json";
  return fs::exists(config, ignored) ? std::optional(config) : std::nullopt;
}

// Prints where the file is, or the names of the exception's classes and what it says.
constexpr const char* kAsk = R"(
import sys
try:
    from huggingface_hub import hf_hub_download
except Exception:
    sys.exit(3)
try:
    print(hf_hub_download(sys.argv[1], 'config.json'))
except Exception as error:
    print(' '.join(kind.__name__ for kind in type(error).__mro__))
    print(' '.join(str(error).split()))
    sys.exit(4)
)";

struct Refusal {
  const char *kind, *message, *hint;
};

// huggingface_hub.errors, the particular before the general: GatedRepoError is a RepositoryNotFoundError.
constexpr Refusal kRefusals[] = {
    {"GatedRepoError", "the hub gives this model's files only to those who were granted access",
     "ask for it on the model's page, then `hf auth login`; or download config.json and name it"},
    {"RepositoryNotFoundError", "the hub has no such model, or it is private", ""},
    {"HFValidationError", "the hub has no names like this", ""},
    {"EntryNotFoundError", "the hub's model has no config.json", "is it a model of transformers?"},
};

/// What the user's huggingface_hub finds; nothing when it is not installed.
std::optional<fs::path> downloaded_config(const std::string& name, const std::string& near,
                                          const Environment& environment) {
  const auto python = active_python(environment);
  std::error_code ignored;
  if (!python || !fs::exists(python->interpreter, ignored)) return std::nullopt;
  const Finished asked = run_helper({python->interpreter.string(), "-c", kAsk, name}, environment);
  std::istringstream lines(asked.output);
  std::string first, said;
  std::getline(lines, first);
  std::getline(lines, said);
  if (asked.exit_code == 0) return first;
  if (asked.exit_code != 4) return std::nullopt;
  // LocalEntryNotFoundError is an EntryNotFoundError that means: not reached.
  if (first.find("LocalEntryNotFoundError") == std::string::npos)
    for (const Refusal& one : kRefusals)
      if (first.find(one.kind) != std::string::npos)
        throw Error(Errc::not_found, one.message, name, near.empty() ? one.hint : near);
  throw Error(Errc::not_found, "it is not in the Hugging Face cache, and the hub was not reached", name,
              near.empty() ? said.substr(0, 200) : near);
}

fs::path asked_config(const std::string& name, const std::string& near, bool offline, const Environment& environment) {
  const char* missing = "no such file or folder, and no model of that name in the Hugging Face cache";
  if (offline) throw Error(Errc::not_found, missing, name, near.empty() ? "offline, the hub is not asked" : near);
  if (const auto downloaded = downloaded_config(name, near, environment)) return *downloaded;
  throw Error(
      Errc::not_found, missing, name,
      near.empty() ? "to ask the hub, install its client in the active Python: pip install huggingface_hub" : near);
}

}  // namespace

bool may_be_hub_name(std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_' || c == '.' || c == '/';
  });
  return plain && !text.empty() && std::isalnum(static_cast<unsigned char>(text[0])) && !text.ends_with('/') &&
         !text.ends_with(".json") && std::count(text.begin(), text.end(), '/') <= 1;
}

fs::path hub_config(const std::string& name, bool offline, const Environment& environment) {
  const fs::path cache = cache_folder(environment);
  if (const auto cached = cached_config(cache, name)) return *cached;
  std::vector<std::string> known = cached_names(cache);
  for (std::string& bundled : bundled_names()) known.push_back(std::move(bundled));
  const std::string near = did_you_mean(name, known);
  try {
    return asked_config(name, near, offline || is_offline(environment), environment);
  } catch (const Error& error) {
    if (error.code() != Errc::not_found) throw;
    if (const auto bundled = bundled_model(name)) return bundled->config;
    throw;
  }
}

}  // namespace tidemark::cli
