#include "estimate/method.h"

#include <algorithm>

namespace tidemark {
namespace {

/// Dettmers et al. 2023 (QLoRA), section 5: nf4, double quantization, bf16, adapters on all linear layers.
Value quantization_of_qlora() {
  return Value::Map{{"quant_type", "nf4"}, {"use_double_quant", true}, {"compute_dtype", "bf16"}};
}

/// Names of parts, of which each model has some: "a|b".
Value parts(const char* names) { return Value::List{names}; }

Value adapters(const char* targets) { return Value::Map{{"target_modules", targets}}; }

/// trl: scripts/sft.py with `dtype: bfloat16`; trainer/sft_config.py, model_config.py (1.16.0)
Value of_trl(bool has_lora, bool is_quantized) {
  Value keys = Value::Map{{"loop", "sft_trainer"}, {"autocast", "bf16"},   {"optimizer_impl", "fused"},
                          {"max_grad_norm", 1.0},  {"load", "device_map"}, {"checkpointing", "non_reentrant"}};
  if (has_lora) {
    Value lora = Value::Map{{"r", 16}, {"alpha", 32.0}, {"dropout", 0.05}, {"target_modules", "all-linear"}};
    if (is_quantized) lora.set("adapter_dtype", "bf16");
    keys.set("lora", std::move(lora));
  }
  if (is_quantized) keys.set("quantization", quantization_of_qlora());
  return keys;
}

/// transformers: training_args.py (5.24.0) with `bf16: true`; peft: prepare_model_for_kbit_training (0.21.2)
Value of_transformers(bool has_lora, bool is_quantized) {
  Value keys =
      Value::Map{{"loop", "trainer"}, {"autocast", "bf16"}, {"optimizer_impl", "fused"}, {"max_grad_norm", 1.0}};
  if (has_lora) keys.set("lora", adapters("all-linear"));
  if (!is_quantized) return keys;
  Value quantization = quantization_of_qlora();
  quantization.set("prepare", true);
  keys.set("quantization", std::move(quantization));
  keys.set("load", "device");
  keys.set("checkpointing", "non_reentrant");
  return keys;
}

void add_words(const Value& keys, const std::string& prefix, std::string& text) {
  for (const Value::Item& item : *keys.as_map()) {
    const std::string name = prefix + item.key;
    if (item.value.as_map()) {
      add_words(item.value, name + ".", text);
      continue;
    }
    const Value& value = item.value.as_list() ? item.value.as_list()->front() : item.value;
    const std::string* word = value.as_text();
    text += (text.empty() ? "" : ", ") + name + " " + (word ? *word : value.quoted());
  }
}

/// use_dora beside the adapters that these keys have.  Liu et al. 2024 (DoRA)
Value with_dora(Value keys) {
  Value lora = *keys.find("lora");
  lora.set("use_dora", true);
  keys.set("lora", std::move(lora));
  return keys;
}

Value keys_alone(Method method) {
  switch (method) {
    case Method::none:
    case Method::full: break;
    case Method::lora: return Value::Map{{"lora", adapters("all-linear")}};
    case Method::dora: return with_dora(keys_alone(Method::lora));
    case Method::trl_dora: return with_dora(keys_alone(Method::trl_lora));
    case Method::transformers_dora: return with_dora(keys_alone(Method::transformers_lora));
    case Method::qlora:
      return Value::Map{{"lora", adapters("all-linear")},
                        {"quantization", quantization_of_qlora()},
                        {"checkpointing", "non_reentrant"}};
    case Method::freeze_vision: return Value::Map{{"freeze", parts("vision|visual|image_encoder")}};
    case Method::projector:
      return Value::Map{{"train_only", parts("projector|merger|connector|aligner|modality_projection")}};
    case Method::trl_full: return of_trl(false, false);
    case Method::trl_lora: return of_trl(true, false);
    case Method::trl_qlora: return of_trl(true, true);
    case Method::transformers_full: return of_transformers(false, false);
    case Method::transformers_lora: return of_transformers(true, false);
    case Method::transformers_qlora: return of_transformers(true, true);
  }
  return Value::Map();
}

/// Whether the keys of a spec ask for one process.
bool is_alone(const Value& spec) {
  const Value *gpus = spec.find("gpus"), *parallel = spec.find("parallel");
  const bool is_shared = parallel && parallel->as_text() && *parallel->as_text() != "none";
  return !is_shared && (!gpus || !gpus->as_integer() || *gpus->as_integer() == 1);
}

}  // namespace

std::string text_of_method(Method method, bool is_alone) {
  std::string text;
  add_words(keys_of_method(method, is_alone), "", text);
  return text.empty() ? "nothing" : text;
}

/// trl: trainer/sft_trainer.py, __init__: no device_map of several processes (1.16.0)
Value keys_of_method(Method method, bool is_alone) {
  const Value all = keys_alone(method);
  if (is_alone) return all;
  Value keys = Value::Map();
  for (const Value::Item& item : *all.as_map())
    if (item.key != "load" || *item.value.as_text() != "device_map") keys.set(item.key, item.value);
  return keys;
}

Value with_method(const Value& spec) {
  const Value* method = spec.as_map() ? spec.find("method") : nullptr;
  const std::string* name = method ? method->as_text() : nullptr;
  const auto found = name ? std::find(kMethodNames.begin(), kMethodNames.end(), *name) : kMethodNames.end();
  if (found == kMethodNames.end()) return spec;
  return merged(keys_of_method(static_cast<Method>(found - kMethodNames.begin()), is_alone(spec)), spec);
}

}  // namespace tidemark
