// What the user's program would do with a Spec, from the weights on.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "estimate/recorder.h"
#include "estimate/spec.h"
#include "nn/model.h"
#include "program/family.h"
#include "train/step.h"

namespace tidemark {

class ParameterStore;

Dtype dtype_of(WeightDtype dtype);
Phase phase_of(const Stage& stage);
/// What its batches are of.
Data data_of(const Spec& spec);
/// How the model's forward is to run.
Context context_of(const Spec& spec, const Value& config);

/// In what a model computes without autocast: the dtype of the weights, or float32 where they are prepared for training
/// with quantized ones (peft, prepare_model_for_kbit_training).
Dtype computed_dtype_of(const Spec& spec);

/// Under what of the kinds of autocast that models tell apart: "false", "own" (in the dtype that a model computes in),
/// "other".
std::string autocast_of(const Spec& spec);

/// What a family's program is bound for.
FamilyUse family_use_of(const Spec& spec, const Value& config);

/// Error{unsupported} with the nearest of those that are at hand, "5.17.0/granite" or "granite".
Error no_program_of(const std::string& model_type, std::span<const std::string> names);

/// What the programs of a model type may be called, the one to look for first: "bert.sequence_classification" where
/// that is what it is trained for, and "bert".
std::vector<std::string> program_names(const std::string& model_type, const std::string& head,
                                       const Value& model_config);

/// Of `names`, "5.17.0/granite", those of the model's family, the one to ask first in front: of the release that is
/// asked for, else of the nearest before it, else of the oldest; then, for what that does not hold for, those of other
/// releases.
std::vector<std::string> programs_that_may_answer(const Spec& spec, const Value& model_config,
                                                  std::span<const std::string> names);

/// How its training loop goes.
StepOptions step_options(const Spec& spec);

/// transformers: trainer.py, Trainer._get_num_items_in_batch (floor division since 5.19, true division since 5.23)
std::optional<Dtype> divided_items_of(const Spec& spec);

/// Brings the weights onto the card, freezes, adds adapters.  The parts of those that are made in parts, else null.
std::shared_ptr<ParameterStore> load_model(Run& run, Module& root, const Spec& spec, const Value& model_config,
                                           Recorder& recorder);

/// Loads, freezes, adds adapters, trains.  There is a model for each of the rank's stages where the model is cut into
/// stages, and else one.
void run_program(Run& run, const std::vector<std::unique_ptr<Model>>& models, const Spec& spec,
                 const Value& model_config, StepOptions options, Recorder& recorder);

/// Throws Error{bad_value}.
const std::string& model_type_of(const Value& model_config);

}  // namespace tidemark
