// Adapters of PEFT.  peft: tuners/lora/{model,layer}.py, tuners/tuners_utils.py
// (0.21.2)
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "nn/module.h"

namespace tidemark {

struct LoraOptions {
  std::int64_t r = 8;
  double dropout = 0;
  bool use_dora = false;
  /// A regular expression for a module's whole name, or "all-linear", or parts that its name ends in.
  std::variant<std::string, std::vector<std::string>> target_modules = {};
  /// None: fp32 beside half-precision weights, PEFT's autocast_adapter_dtype.  Else the type of the weights.
  std::optional<Dtype> adapter_dtype = {};
  /// Targets by these names are adapters of experts' parameters, which are not modelled.
  std::vector<std::string> expert_names = {};
};

/// PEFT's choice of modules for a model type; nothing when it has none.
std::optional<std::vector<std::string>> default_lora_targets(const std::string& model_type);

/// Names of a model's older versions for what are experts' parameters now; none where PEFT rewrites no names.
std::vector<std::string> converted_expert_names(const std::string& model_type);

/// Whether the experts of the model are stacked parameters; in transformers 4 they are separate modules.
bool has_stacked_experts(Module& root);

/// peft: tuners_utils.py, check_target_module_exists, of one of a list's names.
bool is_target(const std::string& full_name, const std::string& target);

/// lora.layer.Linear.forward of an adapted module, around what its base layer does.
Tensor adapted(Module& m, Tensor input, const std::function<Tensor(Tensor)>& base_layer);

/// peft.get_peft_model: adapters beside the chosen modules, all else frozen.  Throws Error{bad_value} when nothing is
/// chosen and Error{unsupported} for a chosen module that is not linear.
void add_lora(Run& run, Module& root, const LoraOptions& options);
/// The same before the model gets to the device.
void add_lora_on_host(Module& root, const LoraOptions& options);

}  // namespace tidemark
