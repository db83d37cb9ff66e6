// The files that people train with - TrainingArguments, accelerate, DeepSpeed, TRL, LLaMA-Factory, axolotl, ms-swift,
// torchtitan - read as specs.  Each project is one TrainingFormat in a file of its own, training_format_NAME.cpp;
// nothing lists them but the build, by their names (training_formats.cpp.in).
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "estimate/spec.h"
#include "io/training_keys.h"
#include "plan/trainer_way.h"

namespace tidemark::io {

/// What goes with a trainer's file.
struct TrainingFiles {
  /// What a file that another one names holds.
  std::function<Value(const std::string& path)> read;
  /// The config.json of the model that the trainer's file names, or that was said instead.
  std::function<Value(const std::string& model)> model_config;
  std::optional<Value> accelerate = {}, deepspeed = {};  // from options; they win over what the trainer's file names
  std::int64_t gpus = 0;                                 // that were asked for; 0: as the files say
  std::int64_t gpus_per_node = 0;
  bool has_model = false;     // one was said instead of the file's
  Value said = Value::Map();  // keys of a spec that win over what the file says
  bool nearest = false;       // values that are not predicted are replaced by the nearest ones
};

/// A trainer's file while it is read.
struct TrainingDraft {
  TrainingDraft(const TrainingFiles& its_files, Refusals& its_refusals) : files(its_files), refusals(its_refusals) {}

  Spec spec;
  std::string model;                 // its name or path, as it stands in the file; may be empty
  std::optional<Value> config = {};  // of the model, where the project has its own
  std::vector<std::string> assumptions;
  const TrainingFiles& files;
  Refusals& refusals;
  void assume(std::string what);
  /// Every sample has as many tokens, as the key says or its default, unless another number was said instead.
  void take_length(std::string_view key, std::int64_t tokens);
  /// Keys of one section that nobody asked for.
  void note_unread(const TrainingKeys& keys, std::string_view section);
  const Value& model_config();  // throws Error where no model is named
  /// The key that asks for FlashAttention, which SDPA's flash kernel stands for; empty: none does.
  std::string flash_attention;
  bool reads_image_limits = false;  // from the environment, as swift does

  std::vector<std::string> unread;

 private:
  std::optional<Value> model_config_ = {};
};

/// A plan's answer, to be written for a trainer.
struct TrainingAnswer {
  Spec spec;
  std::string model;  // as the trainer is to find it
  Value model_config;
  std::string peak, card;  // for the comment
};

struct WrittenFile {
  std::string path, text;
};

struct TrainingFormat {
  std::string_view name, title;
  std::string_view version;  // of the project, whose schema and defaults these are
  std::vector<std::string_view>
      signs;                          // keys that tell it from others: the format of which most stand in a file is its
  std::string_view model_key = {};    // that names its model; a file with another format's is not its; empty: any
  LoopKind loop = LoopKind::trainer;  // whose loop trains by it
  bool is_base = false;               // others are made of it and have its keys too: it is the last that is thought of
  std::vector<std::string_view> own_signs = {};  // of a base: keys that none of the others has
  plan::TrainedAs as_trained = nullptr;          // beside what transformers' Trainer does
  Value begins_as = {};  // keys of the file that a plan for it begins with; null: nothing that has to be said
  void (*read)(TrainingKeys& keys, TrainingDraft& draft) = nullptr;
  /// The files, the first of which `path` names and `read` reads; none where it is read alone.
  std::vector<WrittenFile> (*write)(const TrainingAnswer& answer, const std::string& path) = nullptr;
};

/// By name.
std::span<const TrainingFormat> training_formats();

/// How many of the keys tell the format from others.
std::ptrdiff_t sign_count(const TrainingFormat& format, const Value& keys);

/// The format that the keys are of; nullptr where they are of none.
const TrainingFormat* recognised_format(const Value& keys);

struct TrainingConfig {
  std::string title;
  Value model;  // its name or path, or its configuration
  Value spec;   // keys of a spec file, without the model
  std::vector<std::string> assumptions;
};

/// Throws one Error{unsupported} for all keys that decide memory and are not predicted.  `where` is the file.
TrainingConfig read_training_config(const TrainingFormat& format, const Value& keys, const std::string& where,
                                    const TrainingFiles& files);

/// The options of the first command in a shell script that starts one of these trainers: a name with several values is
/// a list, and one without any is true.
Value value_of_shell_script(std::string_view text, const std::string& where);

/// The values of a file: JSON, YAML, TOML, or the command line in a shell script that starts one of these trainers.
Value value_of_training_file(std::string_view text, const std::string& where);

}  // namespace tidemark::io
