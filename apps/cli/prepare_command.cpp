// tidemark prepare: what the first run would do once, ahead of time.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "commands.h"
#include "resources.h"
#include "stand_in_cache.h"
#include "torch_extension.h"

namespace tidemark::cli {

void add_prepare(CLI::App& app, PrepareOptions& options) {
  CLI::App* command = app.add_subcommand("prepare", "Build what Tidemark needs for a torch, ahead of the first run.");
  command->add_option("--python", options.python, "The interpreter that has torch")
      ->type_name("PYTHON")
      ->capture_default_str();
}

namespace {

void print_parts(const std::vector<ExtensionPart>& parts, const std::vector<MissingPart>& missing) {
  for (const ExtensionPart& part : parts) {
    const auto lacks = std::find_if(missing.begin(), missing.end(), [&](const auto& m) { return m.name == part.name; });
    if (lacks == missing.end()) fmt::print("  {:12} ready\n", part.name);
    else fmt::print("  {:12} {}: {}\n", part.name, lacks->why, lacks->without);
  }
}

}  // namespace

int prepare(const PrepareOptions& options) {
  const Environment environment = Environment::of_this_process();
  const Resources resources = find_resources();
  const TorchInstall torch = probe_torch(find_interpreter({options.python}, environment), environment);
  if (!torch.others.empty()) fmt::print(stderr, "tidemark: {}\n", torch.others);
  const auto folder = stand_in_folder(torch, resources.gpu_library, environment);
  const auto extension =
      torch_extension(torch, resources.torch_extension, folder, environment, WhenIncomplete::try_again);
  fmt::print("ready for torch {} (CUDA {}) of {}\n", torch.version, torch.cuda, torch.python);
  print_parts(extension_parts(resources.torch_extension), missing_parts(extension));
  return 0;
}

}  // namespace tidemark::cli
