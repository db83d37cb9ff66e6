#include "training_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "base/error.h"
#include "estimate/spec.h"
#include "files.h"
#include "hub.h"
#include "io/hf_config.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

bool is_present(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool has_ending(const std::string& path, std::initializer_list<const char*> endings) {
  return std::any_of(endings.begin(), endings.end(), [&](const char* ending) { return path.ends_with(ending); });
}

/// People start trainers from the root of a repository: from here, beside the file, or beside a folder above it.
std::optional<fs::path> find_beside(const fs::path& file, const std::string& path) {
  if (is_present(path)) return path;
  std::error_code ignored;
  for (fs::path folder = fs::absolute(file, ignored).parent_path();; folder = folder.parent_path()) {
    if (is_present(folder / path)) return folder / path;
    if (folder == folder.parent_path()) return std::nullopt;
  }
}

Value read_named(const fs::path& from, const std::string& path) {
  const auto found = find_beside(from, path);
  if (!found || !is_file(*found))
    throw Error(Errc::not_found, fmt::format("there is no file {}, which it names", path), from.string(),
                "paths are looked up from here, and beside the file and the folders above it");
  return io::value_of_training_file(read_file(found->string()), found->string());
}

/// The keys of the file, over those of a file that a launch script or command names as the trainer's own.
Value keys_of(const std::string& path) {
  Value keys = io::value_of_training_file(read_file(path), path);
  const Value* named = keys.as_map() ? keys.find("config") : nullptr;
  if (!named || !named->as_text() || !has_ending(*named->as_text(), {".yaml", ".yml", ".json"})) return keys;
  Value below = read_named(path, *named->as_text());
  return below.as_map() ? merged(std::move(below), keys) : keys;
}

/// Keys that stand in files beside a trainer's.
void refuse_companion(const Value& keys, const std::string& path) {
  for (const auto& [key, title, option] : {std::tuple{"distributed_type", "accelerate's file", "--accelerate"},
                                           std::tuple{"zero_optimization", "DeepSpeed's file", "--deepspeed"}})
    if (keys.as_map() && keys.find(key))
      throw Error(Errc::unsupported, fmt::format("{} says how GPUs share the work, not what is trained", title), path,
                  fmt::format("name it with {} beside the trainer's file: tidemark predict TRAINER.yaml {} {}", option,
                              option, path));
}

[[noreturn]] void refuse_unknown(const Value& keys, const std::string& path) {
  refuse_companion(keys, path);
  std::vector<std::string> titles, signs;
  for (const io::TrainingFormat& format : io::training_formats()) {
    titles.emplace_back(format.title);
    constexpr std::size_t kShown = 2;
    signs.push_back(fmt::format(
        "{} ({})", fmt::join(format.signs.begin(), format.signs.begin() + std::min(kShown, format.signs.size()), ", "),
        format.title));
  }
  throw Error(Errc::unsupported, fmt::format("its keys are of none of {}", fmt::join(titles, ", ")), path,
              fmt::format("keys that name the trainer: {}; keys of `tidemark predict` itself are read with --spec",
                          fmt::join(signs, ", ")));
}

std::string found_model(const fs::path& file, const std::string& model) {
  const auto found = find_beside(file, model);
  return found ? found->string() : model;
}

[[noreturn]] void refuse_nameless(const std::string& path) {
  throw Error(Errc::usage, "it names no model", path, "name one, as in: tidemark predict CONFIG --trainer FILE");
}

/// Whether half of the keys are fields of a spec, and more than are signs of a trainer.
bool is_spec(const Value& keys) {
  if (!keys.as_map() || keys.find("model_type")) return false;
  const std::vector<FieldDescription> fields = describe_fields<Spec>();
  const auto own =
      std::count_if(fields.begin(), fields.end(), [&](const auto& field) { return keys.find(field.name); });
  const io::TrainingFormat* format = io::recognised_format(keys);
  const auto all = static_cast<std::ptrdiff_t>(keys.as_map()->size());
  return own > (format ? io::sign_count(*format, keys) : 0) && 2 * own >= all;
}

std::int64_t number_of(const Value& said, const char* key) {
  const Value* found = said.find(key);
  return found && found->as_integer() ? *found->as_integer() : 0;
}

}  // namespace

fs::path config_of_model(const std::string& model, bool offline) {
  if (!is_present(model) && may_be_hub_name(model)) return hub_config(model, offline, Environment::of_this_process());
  std::error_code ignored;
  return fs::is_directory(model, ignored) ? fs::path(model) / "config.json" : fs::path(model);
}

bool is_spec_file(const std::string& path) {
  return is_file(path) && has_ending(path, {".yaml", ".yml", ".json"}) &&
         is_spec(io::value_of_training_file(read_file(path), path));
}

bool is_training_file(const std::string& path) {
  if (!is_file(path)) return false;
  const bool must_be = has_ending(path, {".yaml", ".yml", ".toml", ".sh", ".bash"});
  if (!must_be && !has_ending(path, {".json"})) return false;
  const Value keys = keys_of(path);
  if (!must_be && (!keys.as_map() || keys.find("model_type"))) return false;
  if (is_spec(keys)) return false;
  if (io::recognised_format(keys)) return true;
  if (must_be) refuse_unknown(keys, path);
  refuse_companion(keys, path);
  return false;
}

const io::TrainingFormat* format_of_training_file(const std::string& path) {
  return path.empty() ? nullptr : io::recognised_format(keys_of(path));
}

io::TrainingConfig read_training_file(const TrainingFileOptions& options, const std::string& model, const Value& said,
                                      std::int64_t gpus, bool offline) {
  const fs::path file = options.file;
  const Value keys = keys_of(options.file);
  const io::TrainingFormat* format = io::recognised_format(keys);
  if (!format) refuse_unknown(keys, options.file);
  io::TrainingFiles files{.read = [&](const std::string& path) { return read_named(file, path); },
                          .model_config =
                              [&](const std::string& named) {
                                if (model.empty() && named.empty()) refuse_nameless(options.file);
                                const std::string which = model.empty() ? found_model(file, named) : model;
                                const std::string path = config_of_model(which, offline).string();
                                return io::read_hf_config(read_file(path), path);
                              },
                          .gpus = std::max(gpus, number_of(said, "gpus")),
                          .gpus_per_node = number_of(said, "gpus_per_node"),
                          .has_model = !model.empty(),
                          .said = said,
                          .nearest = options.nearest};
  for (const auto& [path, value] :
       {std::pair{&options.accelerate, &files.accelerate}, std::pair{&options.deepspeed, &files.deepspeed}})
    if (!path->empty()) *value = io::value_of_training_file(read_file(*path), *path);
  io::TrainingConfig config = io::read_training_config(*format, keys, options.file, files);
  if (!model.empty())
    config.model = model;
  else if (const std::string* named = config.model.as_text())
    named->empty() ? refuse_nameless(options.file) : void(config.model = found_model(file, *named));
  return config;
}

}  // namespace tidemark::cli
