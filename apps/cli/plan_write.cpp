#include "plan_write.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/bytes.h"
#include "base/error.h"
#include "files.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

struct Write {
  std::string format, path;
};

Write parsed(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw Error(Errc::usage, fmt::format("{} says no format and file", Value(text).quoted()), "--write",
                "write it as in --write llamafactory=train.yaml");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

/// As from_pretrained takes it: a folder, or a name on the hub.
std::string as_folder(const std::string& model) {
  std::error_code ignored;
  const fs::path path = model;
  if (!fs::exists(path, ignored)) return model;
  const fs::path whole = fs::absolute(path, ignored).lexically_normal();
  return whole.filename() == "config.json" ? whole.parent_path().string() : whole.string();
}

}  // namespace

void check_writes(const std::vector<std::string>& writes) {
  for (const std::string& text : writes) {
    const Write write = parsed(text);
    io::loop_of_written(write.format, "--write");  // throws for one that is not known
    require_writable(write.path, "--write");
  }
}

LoopKind loop_of_all(const std::vector<std::string>& formats) {
  LoopKind loop = LoopKind::plain;
  for (const std::string& format : formats) {
    const LoopKind its = io::loop_of_written(format, "--trainers");
    if (its == LoopKind::plain || its == loop) continue;
    loop = loop == LoopKind::plain ? its : LoopKind::trainer;
  }
  return loop;
}

std::vector<std::string> trainers_of(const std::vector<std::string>& writes) {
  std::vector<std::string> names;
  for (const std::string& text : writes) names.push_back(parsed(text).format);
  return names;
}

Value beginning_of_written(const std::vector<std::string>& writes, std::int64_t gpus) {
  Value keys = Value::Map();
  for (const std::string& text : writes)
    keys = merged(std::move(keys), io::beginning_of_written(parsed(text).format, gpus));
  return keys;
}

std::function<bool(const Spec&)> said_by_all(const std::vector<std::string>& trainers, bool is_written, Spec begin,
                                             const Value& model_config) {
  const auto known = [is_written](Spec spec) {
    if (!is_written) spec.allocator.clear();
    return spec;
  };
  std::vector<std::function<bool(const Spec&)>> each;
  for (const std::string& trainer : trainers)
    if (auto one = io::said_by_written(trainer, known(begin), model_config)) each.push_back(std::move(one));
  if (each.empty()) return {};
  return [each, known](const Spec& spec) {
    return std::all_of(each.begin(), each.end(), [&](const auto& can_say) { return can_say(known(spec)); });
  };
}

std::string in_keys_of(const std::string& trainer, const Spec& from, const Spec& to, const Value& model_config) {
  const auto answer = [&](const Spec& spec) {
    return io::TrainingAnswer{.spec = spec, .model = "model", .model_config = model_config, .peak = {}, .card = {}};
  };
  std::string keys = io::changed_keys(trainer, answer(from), answer(to));
  if (from.allocator != to.allocator)
    keys = fmt::format("# environment: PYTORCH_CUDA_ALLOC_CONF={}\n", to.allocator) + keys;
  if (keys.empty()) return {};
  std::string text = fmt::format("  in the file of {}:\n", trainer);
  for (std::size_t begin = 0; begin < keys.size();) {
    const std::size_t end = std::min(keys.find('\n', begin), keys.size());
    text += "    " + keys.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return text;
}

std::string write_answer(const std::vector<std::string>& writes, const plan::Planned& answer, const std::string& model,
                         const Value& model_config, const Card& card) {
  std::string lines;
  const Peak& peak = answer.seen.peak;
  const io::TrainingAnswer it{.spec = answer.spec,
                              .model = as_folder(model),
                              .model_config = model_config,
                              .peak = fmt::format("{} bytes allocated, {} reserved, {} on the device",
                                                  peak.allocated_bytes, peak.reserved_bytes, peak.device_bytes),
                              .card = card.name};
  for (const std::string& text : writes) {
    const Write write = parsed(text);
    for (const io::WrittenFile& file : io::write_training_files(write.format, it, write.path)) {
      write_output(file.path, file.text);
      lines += fmt::format("  written: {}\n", file.path);
    }
  }
  return lines;
}

}  // namespace tidemark::cli
