// What makes another training of it: only where it is allowed by name.
#include <algorithm>

#include "base/error.h"
#include "base/number.h"
#include "plan/decision_blocks.h"

namespace tidemark::plan {
namespace {

std::vector<std::string> asked_values(const Bounds& bounds, std::string_view name, std::vector<std::string> usual) {
  const auto found = bounds.values.find(name);
  return found == bounds.values.end() || found->second.empty() ? usual : found->second;
}

[[noreturn]] void refuse_value(std::string_view name, const std::string& value, const std::string& hint) {
  throw Error(Errc::bad_value, Value(value).quoted() + " is no value of " + std::string(name), "--allow", hint);
}

std::int64_t whole_number(std::string_view name, const std::string& text) {
  const auto number = parse_number<std::int64_t>(text);
  if (!number || *number < 1) refuse_value(name, text, "write a whole number above 0");
  return *number;
}

/// Ranks of LoRA; alpha keeps its ratio to the rank.
std::vector<Spec> lora(const Spec& spec, const Bounds& bounds) {
  std::vector<Spec> others;
  const LoraSpec usual = spec.lora.value_or(LoraSpec{});
  for (const std::string& value : asked_values(bounds, "lora", {"8", "16", "64"})) {
    LoraSpec lora = usual;
    lora.r = whole_number("lora", value);
    lora.alpha = usual.alpha / static_cast<double>(usual.r) * static_cast<double>(lora.r);
    if (!spec.lora || spec.lora->r != lora.r) others.emplace_back(spec).lora = lora;
  }
  return others;
}

/// As QLoRA has it (arXiv 2305.14314): the scales quantized too, and computed in half precision; or as LLM.int8()
/// (arXiv 2208.07339).
QuantizationSpec packed_as(const Spec& spec, const std::string& value) {
  QuantizationSpec packed = spec.quantization.value_or(QuantizationSpec{});
  if (value == "int8") return {.load_in_8bit = true, .skip_modules = packed.skip_modules, .prepare = packed.prepare};
  const auto* const found = std::find(kQuantTypeNames.begin(), kQuantTypeNames.end(), value);
  if (found == kQuantTypeNames.end()) refuse_value("quantization", value, "write nf4, fp4 or int8");
  if (!spec.quantization || packed.load_in_8bit) {
    const bool is_fp16 = spec.dtype == WeightDtype::fp16 || spec.autocast == Autocast::fp16;
    packed = {.use_double_quant = true,
              .compute_dtype = is_fp16 ? WeightDtype::fp16 : WeightDtype::bf16,
              .skip_modules = packed.skip_modules,
              .prepare = packed.prepare};
  }
  packed.quant_type = static_cast<QuantType>(found - kQuantTypeNames.begin());
  return packed;
}

/// With adapters on all linear modules where nobody said which.
std::vector<Spec> quantization(const Spec& spec, const Bounds& bounds) {
  std::vector<Spec> others;
  for (const std::string& value : asked_values(bounds, "quantization", {"nf4"})) {
    const QuantizationSpec packed = packed_as(spec, value);
    if (spec.quantization && spec.quantization->quant_type == packed.quant_type &&
        spec.quantization->load_in_8bit == packed.load_in_8bit)
      continue;
    Spec& other = others.emplace_back(spec);
    if (!spec.lora && spec.generate == 0) other.lora.emplace().target_modules = std::string("all-linear");
    other.quantization = packed;
  }
  return others;
}

std::vector<Spec> freeze(const Spec& spec, const Bounds& bounds) {
  std::vector<Spec> others;
  for (const std::string& value : asked_values(bounds, "freeze", {}))
    if (std::find(spec.freeze.begin(), spec.freeze.end(), value) == spec.freeze.end())
      others.emplace_back(spec).freeze.push_back(value);
  return others;
}

std::vector<Spec> optimizer(const Spec& spec, const Bounds& bounds) {
  std::vector<Spec> others;
  for (const std::string& value : asked_values(bounds, "optimizer", {"adafactor", "sgd"})) {
    const auto* const found = std::find(kOptimizerNames.begin(), kOptimizerNames.end(), value);
    if (found == kOptimizerNames.end())
      refuse_value("optimizer", value, fmt::format("one of {}", fmt::join(kOptimizerNames, ", ")));
    const auto name = static_cast<OptimizerName>(found - kOptimizerNames.begin());
    if (name == spec.optimizer) continue;
    Spec& other = others.emplace_back(spec);
    other.optimizer = name;
    other.optimizer_impl = OptimizerImpl::automatic;
    other.momentum = 0;
    other.amsgrad = other.nesterov = other.centered = false;
    other.weight_decay.reset();
  }
  return others;
}

/// Weights in bf16; or in fp32, and matrix products in bf16.
std::vector<Spec> precision(const Spec& spec, const Bounds& bounds) {
  std::vector<Spec> others;
  for (const std::string& value : asked_values(bounds, "precision", {"bf16", "autocast"})) {
    if (value != "bf16" && value != "autocast") refuse_value("precision", value, "write bf16 or autocast");
    const bool is_plain = value == "bf16";
    const WeightDtype dtype = is_plain ? WeightDtype::bf16 : WeightDtype::fp32;
    const Autocast autocast = is_plain ? Autocast::none : Autocast::bf16;
    if (spec.dtype == dtype && spec.autocast == autocast) continue;
    Spec& other = others.emplace_back(spec);
    other.dtype = dtype;
    other.autocast = autocast;
  }
  return others;
}

/// Halves of what there is, unless lengths are named.
std::vector<Spec> sequence(const Spec& spec, const Bounds& bounds) {
  std::vector<std::string> halves;
  for (const std::int64_t part : {2, 4, 8})
    if (spec.seq >= part) halves.push_back(std::to_string(spec.seq / part));
  std::vector<Spec> others;
  for (const std::string& value : asked_values(bounds, "seq", halves))
    if (const std::int64_t seq = whole_number("seq", value); seq != spec.seq) others.emplace_back(spec).seq = seq;
  return others;
}

std::vector<Spec> image_size(const Spec& spec, const Bounds& bounds) {
  std::vector<Spec> others;
  for (const std::string& value : asked_values(bounds, "image_size", {})) {
    parse_image_size(value);
    if (value != spec.image_size) others.emplace_back(spec).image_size = value;
  }
  return others;
}

}  // namespace

void add_training_decisions(std::vector<Decision>& all) {
  const auto add = [&all](const char* name, const char* help, std::vector<Spec> (*others)(const Spec&, const Bounds&)) {
    all.push_back({.name = name, .help = help, .same_training = false, .others = others});
  };
  add("lora", "Adapters on a frozen model: ranks [8|16|64]", lora);
  add("quantization", "Adapters on a model in 4 bits, by bitsandbytes; int8 is in 8 [nf4]", quantization);
  add("freeze", "Parts that are not trained, by name", freeze);
  add("optimizer", "Another optimizer [adafactor|sgd]", optimizer);
  add("precision", "bf16 weights, or fp32 ones under autocast [bf16|autocast]", precision);
  add("seq", "Shorter samples [a half, a quarter, an eighth]", sequence);
  add("image_size", "Other sizes of images, by size", image_size);
}

}  // namespace tidemark::plan
