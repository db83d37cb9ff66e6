// Trainers' files out: what a plan's answer is in their words.  A written file is read again, and what it then says
// must be the spec: what a format cannot say is an error by name, never left out.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "io/training_config.h"

namespace tidemark::io {

/// Writes them in all formats that can.  `format` is a TrainingFormat's name; `path` that of the first file, others get
/// names made of it.  Throws Error{unknown_name} for a format, Error{unsupported} for what it cannot say.
std::vector<WrittenFile> write_training_files(std::string_view format, const TrainingAnswer& answer,
                                              const std::string& path);

/// Whose loop trains by it.  Throws Error{unknown_name} for what is not the name of one that is written.
LoopKind loop_of_written(std::string_view format, const std::string& where);
/// What its trainer makes of a configuration; nullptr: no more than the Trainer does.
plan::TrainedAs trained_as_written(std::string_view format, const std::string& where);
/// Keys of a spec that hold for what it trains on so many GPUs where nothing else is said; empty: none do.
Value beginning_of_written(std::string_view format, std::int64_t gpus);

/// Whether a trainer's files can say a configuration, except what they cannot say of `begin`.  None: they cannot be
/// written for `begin`.
std::function<bool(const Spec&)> said_by_written(std::string_view format, const Spec& begin, const Value& model_config);

/// The keys of the trainer's files that change from one configuration to another, as YAML; empty where they cannot be
/// written.
std::string changed_keys(std::string_view format, const TrainingAnswer& from, const TrainingAnswer& to);

// What formats are written with.

/// Maps block by block, all else as JSON in one line, which is YAML too.
std::string value_to_yaml(const Value& map);
/// "# " in front of every line.
std::string as_comment(const std::string& text);
/// What the file is, and its predicted peak: lines without a comment's sign.
std::string heading_of(const TrainingAnswer& answer, std::string_view title);

/// TrainingArguments' keys of the spec; `deepspeed` is the path that they name DeepSpeed's file by.
void append_training_arguments(const Spec& spec, const std::string& deepspeed, Value& keys);
/// DeepSpeed's own file for it; null where it is not DeepSpeed that shares the work.
Value deepspeed_config(const Spec& spec);
/// What `accelerate launch --config_file` starts as many processes with.
Value accelerate_config(const Spec& spec);

/// "run.yaml" and ".deepspeed.json": "run.deepspeed.json"
std::string beside(const std::string& path, std::string_view ending);
std::string_view name_of_dtype(WeightDtype dtype);  // "bfloat16"
[[noreturn]] void refuse_to_write(std::string_view title, const std::string& key, const std::string& why);

}  // namespace tidemark::io
