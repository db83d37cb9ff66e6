// --write FORMAT=PATH: a plan's first answer as a trainer's own file.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "io/training_write.h"
#include "memory/card.h"
#include "plan/plan.h"

namespace tidemark::cli {

/// Throws Error{usage} for a text that is not FORMAT=PATH, and Error{io} where nothing can be written.
void check_writes(const std::vector<std::string>& writes);

/// Which loop to plan for: that of these formats' trainers, transformers' Trainer where they differ, else a plain one.
LoopKind loop_of_all(const std::vector<std::string>& formats);

/// Names of the formats.
std::vector<std::string> trainers_of(const std::vector<std::string>& writes);

/// Keys of a spec that hold for what they train on so many GPUs where nothing else is said.
Value beginning_of_written(const std::vector<std::string>& writes, std::int64_t gpus);

/// Whether the files of all these trainers can say a configuration, as far as they can say `begin`.  The environment,
/// which no written file has, has the allocator's settings.
std::function<bool(const Spec&)> said_by_all(const std::vector<std::string>& trainers, bool is_written, Spec begin,
                                             const Value& model_config);

/// Changed keys of the trainer's files and environment from one configuration to another; lines, or nothing.
std::string in_keys_of(const std::string& trainer, const Spec& from, const Spec& to, const Value& model_config);

/// Writes the files, and returns a line about each.  `model` is as it was asked for: a path, or a name on the hub.
std::string write_answer(const std::vector<std::string>& writes, const plan::Planned& answer, const std::string& model,
                         const Value& model_config, const Card& card);

}  // namespace tidemark::cli
