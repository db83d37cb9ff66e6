// Adapters of PEFT.  peft: tuners/lora/{model,layer}.py, tuners/tuners_utils.py
// (0.21.2)
#pragma once
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "nn/module.h"

namespace tidemark {

struct LoraOptions {
  std::int64_t r = 8;
  double dropout = 0;
  /// A regular expression for a module's whole name, or "all-linear", or parts that its name ends in.
  std::variant<std::string, std::vector<std::string>> target_modules = {};
  /// None: fp32 beside half-precision weights, PEFT's autocast_adapter_dtype.  Else the type of the weights.
  std::optional<Dtype> adapter_dtype = {};
};

/// PEFT's choice of modules for a model type.  Throws Error{bad_value} when it has none.
std::vector<std::string> default_lora_targets(const std::string& model_type);

/// peft.get_peft_model: adapters beside the chosen modules, all else frozen.  Throws Error{bad_value} when nothing is
/// chosen and Error{unsupported} for a chosen module that is not linear.
void add_lora(Run& run, Module& root, const LoraOptions& options);
/// The same before the model gets to the device.
void add_lora_on_host(Module& root, const LoraOptions& options);

}  // namespace tidemark
