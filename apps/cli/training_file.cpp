#include "training_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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

[[noreturn]] void refuse_unknown(const std::string& path) {
  std::vector<std::string_view> titles;
  for (const io::TrainingFormat& format : io::training_formats()) titles.push_back(format.title);
  throw Error(Errc::unsupported, fmt::format("its keys are of none of {}", fmt::join(titles, ", ")), path,
              "keys of `tidemark predict` itself are read with --spec");
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

std::string found_model(const fs::path& file, const std::string& model) {
  const auto found = find_beside(file, model);
  return found ? found->string() : model;
}

/// Whether more of the keys are fields of a spec than signs of a trainer.
bool is_spec(const Value& keys) {
  if (!keys.as_map() || keys.find("model_type")) return false;
  const std::vector<FieldDescription> fields = describe_fields<Spec>();
  const auto own =
      std::count_if(fields.begin(), fields.end(), [&](const auto& field) { return keys.find(field.name); });
  const io::TrainingFormat* format = io::recognised_format(keys);
  return own > (format ? io::sign_count(*format, keys) : 0);
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
  const Value keys = io::value_of_training_file(read_file(path), path);
  if (!must_be && (!keys.as_map() || keys.find("model_type"))) return false;
  if (is_spec(keys)) return false;
  if (io::recognised_format(keys)) return true;
  if (must_be) refuse_unknown(path);
  return false;
}

io::TrainingConfig read_training_file(const TrainingFileOptions& options, const std::string& model, std::int64_t gpus,
                                      std::int64_t gpus_per_node, bool offline) {
  const fs::path file = options.file;
  const Value keys = io::value_of_training_file(read_file(options.file), options.file);
  const io::TrainingFormat* format = io::recognised_format(keys);
  if (!format) refuse_unknown(options.file);
  io::TrainingFiles files{.read = [&](const std::string& path) { return read_named(file, path); },
                          .model_config =
                              [&](const std::string& named) {
                                const std::string which = model.empty() ? found_model(file, named) : model;
                                if (which.empty())
                                  throw Error(Errc::usage, "it names no model", options.file,
                                              "name one, as in: tidemark predict CONFIG --trainer FILE");
                                const std::string path = config_of_model(which, offline).string();
                                return io::read_hf_config(read_file(path), path);
                              },
                          .gpus = gpus,
                          .gpus_per_node = gpus_per_node,
                          .has_model = !model.empty()};
  for (const auto& [path, value] :
       {std::pair{&options.accelerate, &files.accelerate}, std::pair{&options.deepspeed, &files.deepspeed}})
    if (!path->empty()) *value = io::value_of_training_file(read_file(*path), *path);
  io::TrainingConfig config = io::read_training_config(*format, keys, options.file, files);
  if (!model.empty())
    config.model = model;
  else if (const std::string* named = config.model.as_text())
    config.model = found_model(file, *named);
  return config;
}

}  // namespace tidemark::cli
