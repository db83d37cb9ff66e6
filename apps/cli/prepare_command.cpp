// tidemark prepare: what the first run would do once, ahead of time.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "commands.h"
#include "resources.h"
#include "shipped_extensions.h"
#include "stand_in_cache.h"
#include "torch_extension.h"

namespace tidemark::cli {

void add_prepare(CLI::App& app, PrepareOptions& options) {
  CLI::App* command = app.add_subcommand("prepare", "Build what Tidemark needs for a torch, ahead of the first run.");
  command->add_option("--python", options.python, "The interpreter that has torch")
      ->type_name("PYTHON")
      ->capture_default_str();
  command->add_option("--ship", options.ship, "Compile into FOLDER, for other machines, and prepare nothing here")
      ->type_name("FOLDER");
}

namespace {

void print_parts(const std::vector<ExtensionPart>& parts, const std::vector<MissingPart>& missing) {
  for (const ExtensionPart& part : parts) {
    const auto lacks = std::find_if(missing.begin(), missing.end(), [&](const auto& m) { return m.name == part.name; });
    if (lacks == missing.end())
      fmt::print("  {:12} ready\n", part.name);
    else
      fmt::print("  {:12} {}: {}\n", part.name, lacks->why, lacks->without);
  }
}

}  // namespace

int prepare(const PrepareOptions& options) {
  const Environment environment = Environment::of_this_process();
  const Resources resources = find_resources();
  const TorchInstall torch = probe_torch(find_interpreter({options.python}, environment), environment);
  if (!torch.others.empty()) fmt::print(stderr, "tidemark: {}\n", torch.others);
  if (!options.ship.empty()) {
    ship_extension(torch, resources.torch_extension, options.ship, environment);
    fmt::print("compiled for torch {}\n", torch.version);
    return 0;
  }
  const auto folder = stand_in_folder(torch, resources.gpu_library, environment);
  const auto extension = extension_for(torch, resources, folder, environment, WhenIncomplete::try_again);
  fmt::print("ready for torch {} (CUDA {}) of {}\n", torch.version, torch.cuda, torch.python);
  print_parts(extension_parts(resources.torch_extension), missing_parts(extension));
  return 0;
}

}  // namespace tidemark::cli
