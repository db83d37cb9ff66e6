#include "nn/lora.h"

#include <algorithm>
#include <regex>

#include "base/error.h"
#include "nn/dora.h"
#include "nn/embeddings.h"
#include "nn/layers.h"
#include "nn/quantization.h"

namespace tidemark {
namespace {

Tensor lora_forward(Module& m, Tensor input) {
  return adapted(m, std::move(input), [&m](Tensor x) { return m["base_layer"](std::move(x)); });
}

/// lora.bnb.Linear4bit.forward, Linear8bitLt.forward: no change of types under autocast; the first begins with a copy
/// of what the base layer returns.
Tensor quantized_lora_forward(Module& m, Tensor input) {
  Tensor x = std::move(input);
  Tensor result = m["base_layer"](x);
  if (x.run().adapters_off) return result;
  if (!m["base_layer"].quantized->options.load_in_8bit) result = clone(std::move(result));
  Module &lora_a = m["lora_A"]["default"], &lora_b = m["lora_B"]["default"];
  const bool converts = !x.run().autocast.enabled;
  if (converts) x = to(std::move(x), lora_a("weight").dtype());
  if (has_magnitudes(m)) {
    const Dtype expected = result.dtype();
    result = with_dora(m, x, result);
    return converts ? to(std::move(result), expected) : result;
  }
  Tensor output = mul_scalar(lora_b(lora_a(m["lora_dropout"]["default"](x))));
  if (converts) output = to(std::move(output), result.dtype());
  result = add(std::move(result), output);
  return result;
}

void visit_modules(Module& module, std::vector<Module*>& found) {
  found.push_back(&module);
  for (const std::unique_ptr<Module>& child : module.children()) visit_modules(*child, found);
}

/// check_target_module_exists
class Targets {
 public:
  explicit Targets(const LoraOptions& options) {
    const auto* text = std::get_if<std::string>(&options.target_modules);
    if (!text) {
      names_ = std::get<std::vector<std::string>>(options.target_modules);
      return;
    }
    std::string lower = *text;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    all_linear_ = lower == "all-linear";
    if (all_linear_) return;
    try {
      // libstdc++'s breadth-first matcher: no pattern takes exponential time; it refuses back-references.
      pattern_ = std::regex(*text, std::regex::ECMAScript | std::regex_constants::__polynomial);
    } catch (const std::regex_error&) {
      throw Error(Errc::bad_value, "not a regular expression: " + *text, "lora.target_modules");
    }
  }

  bool contain(const Module& module) const {
    const std::string& key = module.full_name();
    if (key.empty()) return false;
    if (all_linear_) return linear_shape(module) && !is_output_embedding(module);
    if (pattern_) return std::regex_match(key, *pattern_);
    return std::any_of(names_.begin(), names_.end(), [&](const std::string& name) { return is_target(key, name); });
  }

 private:
  bool all_linear_ = false;
  std::optional<std::regex> pattern_;
  std::vector<std::string> names_;
};

/// BaseTunerLayer._get_base_layer_device_and_dtype, for what adapters are made as: beside whole numbers, as torch makes
/// them.
Dtype dtype_of(const Module& base) {
  if (!base.quantized) return base.get("weight").dtype;
  return base.quantized->options.load_in_8bit ? Dtype::f32 : base.quantized->options.compute_dtype;
}

/// LoraLayer.update_layer: the module becomes the adapter, and what it was its base_layer.
void wrap(Module& module, const LoraOptions& options) {
  const std::optional<LinearShape> shape = linear_shape(module);
  if (!shape)
    throw Error(Errc::unsupported, "no adapters here for " + module.full_name() + ": it is not a linear module",
                "lora.target_modules");
  Module& base = module.add("base_layer", module.forward);
  base.parameters() = std::move(module.parameters());
  module.parameters().clear();
  base.quantized = std::move(module.quantized);
  module.forward = base.quantized ? quantized_lora_forward : lora_forward;
  module.is_adapted = true;
  module.dtype = dtype_of(base);
  Module& drop = add_dropout(module.add("lora_dropout"), "default", options.dropout);
  if (options.dropout <= 0) drop.become_identity();
  add_linear(module.add("lora_A"), "default", shape->in, options.r, false);
  add_linear(module.add("lora_B"), "default", options.r, shape->out, false);
  if (options.use_dora) add_magnitudes(module);
}

/// The children of an adapted module that train, in the order of their registration: each has one part by name.
std::vector<Module*> trained_children(Module& adapted) {
  std::vector<Module*> found;
  for (const char* name : {"lora_A", "lora_B", "lora_magnitude_vector"})
    if (adapted.has(name)) found.push_back(&adapted[name]);
  return found;
}

/// Trainers leave DoRA's vectors as they are.
enum class Casts { all, matrices };

/// cast_adapter_dtype: new parameters, one after the other.
void cast(Module& module, Dtype dtype, Casts which = Casts::all) {
  for (Module* child : trained_children(module)) {
    if (which == Casts::matrices && is_magnitudes(*child)) continue;
    Module& adapter = (*child)["default"];
    Parameter& weight = adapter.get("weight");
    if (weight.dtype == dtype) continue;
    const NoGrad no_grad(weight.tensor.run());
    const InModule scope(weight.tensor.run(), adapter);
    weight.tensor = to(weight.tensor, dtype);
    weight.tensor.impl().requires_grad = true;
    adapter.dtype = weight.dtype = dtype;
  }
}

/// The type that get_peft_model makes adapters in; `is_automatic`: PEFT chooses it.
Dtype adapter_dtype(Module& module, const LoraOptions& options, bool is_automatic) {
  const Dtype weights = module.dtype, automatic = size_of(weights) < 4 ? Dtype::f32 : weights;
  if (is_automatic) return automatic;
  const Dtype wanted = options.adapter_dtype.value_or(automatic);
  if (wanted != automatic && wanted != weights)
    throw Error(Errc::unsupported, "PEFT makes adapters in the type of the weights or in fp32", "lora.adapter_dtype");
  return wanted;
}

/// PEFT rewrites names that older versions of a model with experts had into adapters of parameters, and all-linear and
/// patterns into such names.  peft: utils/transformers_weight_conversion.py, _convert_peft_config_moe
void check_experts(Module& root, const LoraOptions& options) {
  if (options.expert_names.empty() || !has_stacked_experts(root)) return;
  const auto* names = std::get_if<std::vector<std::string>>(&options.target_modules);
  const auto is_expert = [&](const std::string& name) {
    const std::vector<std::string>& known = options.expert_names;
    return std::find(known.begin(), known.end(), name.substr(name.rfind('.') + 1)) != known.end();
  };
  if (names && std::none_of(names->begin(), names->end(), is_expert)) return;
  throw Error(Errc::unsupported,
              "adapters of experts' parameters are not modelled, and PEFT makes them of such targets",
              "lora.target_modules", "name projections of attention, such as q_proj, k_proj, v_proj, o_proj");
}

std::vector<Module*> targeted(Module& root, const LoraOptions& options) {
  const Targets targets(options);
  std::vector<Module*> modules, adapted;
  visit_modules(root, modules);
  check_experts(root, options);
  for (Module* module : modules)
    if (targets.contain(*module)) adapted.push_back(module);
  if (adapted.empty()) throw Error(Errc::bad_value, "no module of the model has such a name", "lora.target_modules");
  return adapted;
}

}  // namespace

bool has_stacked_experts(Module& root) {
  if (root.name() == "experts" && !root.parameters().empty()) return true;
  return std::any_of(root.children().begin(), root.children().end(),
                     [](const std::unique_ptr<Module>& child) { return has_stacked_experts(*child); });
}

bool is_target(const std::string& full_name, const std::string& target) {
  return full_name == target || full_name.ends_with("." + target);
}

Tensor adapted(Module& m, Tensor input, const std::function<Tensor(Tensor)>& base_layer) {
  Tensor x = std::move(input);
  Tensor result = base_layer(x);
  if (x.run().adapters_off) return result;
  const Dtype result_dtype = result.dtype();
  Module &lora_a = m["lora_A"]["default"], &lora_b = m["lora_B"]["default"];
  x = to(std::move(x), lora_a("weight").dtype());
  if (has_magnitudes(m)) {
    result = with_dora(m, x, result);
  } else {
    Tensor change = mul_scalar(lora_b(lora_a(m["lora_dropout"]["default"](x))));
    result = add(result, std::move(change));
  }
  result = to(std::move(result), result_dtype);
  return result;
}

/// peft: utils/constants.py, TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING; but for Mixtral, where
/// _convert_peft_config_moe makes an empty set of what was not said, and PEFT then finds nothing to adapt.
std::optional<std::vector<std::string>> default_lora_targets(const std::string& model_type) {
  struct Entry {
    const char* model_type;
    std::vector<std::string> targets;
  };
  static const std::vector<Entry> kEntries{{"bert", {"query", "value"}},
                                           {"bloom", {"query_key_value"}},
                                           {"codegen", {"qkv_proj"}},
                                           {"falcon", {"query_key_value"}},
                                           {"gemma", {"q_proj", "v_proj"}},
                                           {"gemma2", {"q_proj", "v_proj"}},
                                           {"gemma3_text", {"q_proj", "v_proj"}},
                                           {"gpt2", {"c_attn"}},
                                           {"gpt_bigcode", {"c_attn"}},
                                           {"gpt_neo", {"q_proj", "v_proj"}},
                                           {"gpt_neox", {"query_key_value"}},
                                           {"llama", {"q_proj", "v_proj"}},
                                           {"mistral", {"q_proj", "v_proj"}},
                                           {"opt", {"q_proj", "v_proj"}},
                                           {"phi", {"q_proj", "v_proj", "fc1", "fc2"}},
                                           {"qwen2", {"q_proj", "v_proj"}},
                                           {"qwen3", {"q_proj", "v_proj"}},
                                           {"roberta", {"query", "value"}},
                                           {"stablelm", {"q_proj", "v_proj"}}};
  for (const Entry& entry : kEntries)
    if (entry.model_type == model_type) return entry.targets;
  return std::nullopt;
}

/// transformers: conversion_mapping.py, _MODEL_TO_CONVERSION_PATTERN (5.17.0); the names are those of peft:
/// utils/transformers_weight_conversion.py, _MOE_TARGET_MODULE_MAPPING
std::vector<std::string> converted_expert_names(const std::string& model_type) {
  constexpr std::string_view kAsMixtral[] = {"mixtral", "minimax", "minimax_m2"};
  constexpr std::string_view kAsQwen2Moe[] = {
      "afmoe",      "deepseek_v2",   "deepseek_v3",    "deepseek_v32",   "dots1",     "ernie4_5_moe",
      "glm4_moe",   "glm4_moe_lite", "glm_moe_dsa",    "glm4v_moe",      "mellum",    "longcat_flash",
      "solar_open", "qwen3_moe",     "qwen3_omni_moe", "hunyuan_v1_moe", "flex_olmo", "qwen3_omni_moe_thinker",
      "qwen3_next", "olmoe",         "exaone_moe",     "cohere2_moe"};
  const auto has = [&](const auto& types) {
    return std::find(std::begin(types), std::end(types), model_type) != std::end(types);
  };
  if (has(kAsMixtral)) return {"gate", "w1", "w2", "w3"};
  if (has(kAsQwen2Moe)) return {"gate", "gate_proj", "up_proj", "down_proj"};
  return {};
}

namespace {

bool has_quantized(const std::vector<Module*>& targets) {
  return std::any_of(targets.begin(), targets.end(),
                     [](const Module* module) { return static_cast<bool>(module->quantized); });
}

/// PeftModel.forward calls that of the root, not the root.
void wrap_root(Module& root) { root.wrappers = {"PeftModel", "LoraModel"}; }

}  // namespace

void add_lora(Run& run, Module& root, const LoraOptions& options) {
  const Setting<Category> category(run.category, Category::parameters);
  const std::vector<Module*> adapted = targeted(root, options);
  visit_parameters(root, [](const Module&, Parameter& parameter) { parameter.tensor.impl().requires_grad = false; });
  wrap_root(root);
  const bool is_quantized = has_quantized(adapted);
  for (Module* module : adapted) {
    wrap(*module, options);
    for (const std::unique_ptr<Module>& child : module->children()) {
      child->name_in(run);
      if (!is_magnitudes(*child)) child->load(run);
    }
    if (options.use_dora) load_magnitudes(run, *module);
  }
  for (Module* module : adapted) cast(*module, adapter_dtype(*module, options, is_quantized));
  // Trainers cast what trains of a quantized model themselves.  trl: trainer/sft_trainer.py (1.16.0)
  for (Module* module : adapted)
    if (options.adapter_dtype && is_quantized) cast(*module, *options.adapter_dtype, Casts::matrices);
}

void add_lora_on_host(Module& root, const LoraOptions& options) {
  const std::vector<Module*> adapted = targeted(root, options);
  visit_parameters(root, [](const Module&, Parameter& parameter) { parameter.trains = false; });
  wrap_root(root);
  const bool is_quantized = has_quantized(adapted);
  for (Module* module : adapted) {
    wrap(*module, options);
    for (Module* child : trained_children(*module)) {
      Module& adapter = (*child)["default"];
      adapter.dtype = adapter.get("weight").dtype = adapter_dtype(*module, options, is_quantized);
    }
  }
}

}  // namespace tidemark
