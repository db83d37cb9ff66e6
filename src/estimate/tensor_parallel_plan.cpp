#include "estimate/tensor_parallel_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "estimate/program.h"

namespace tidemark {
namespace {

bool is_like_llama(const std::string& model_type) {
  constexpr std::string_view kPlanTypes[] = {"llama", "mistral", "gemma", "gemma2",
                                             "qwen2", "qwen3",   "cwm",   "qwen2_vl"};
  return std::find(std::begin(kPlanTypes), std::end(kPlanTypes), model_type) != std::end(kPlanTypes);
}

const Value& text_config(const Value& config) {
  const Value* text = config.find("text_config");
  return text && text->as_map() ? *text : config;
}

std::string text_model_type(const Value& config) {
  const Value* type = text_config(config).find("model_type");
  return type && type->as_text() ? *type->as_text() : model_type_of(config);
}

/// The module with the layers of the text, by its name: "model".
const Module* find_decoder(Module& module) {
  if (module.has("layers") && module.has("norm")) return &module;
  for (const std::unique_ptr<Module>& child : module.children())
    if (const Module* found = find_decoder(*child)) return found;
  return nullptr;
}

ParallelRule simple(std::string pattern, ParallelStyle style) {
  return {.pattern = std::move(pattern), .style = style};
}

ParallelRule to_tokens(std::string pattern) {
  ParallelRule rule = simple(std::move(pattern), ParallelStyle::rowwise);
  rule.output_layouts = Placement::split(1);
  rule.use_local_output = false;
  return rule;
}

ParallelRule from_tokens(std::string pattern) {
  ParallelRule rule = simple(std::move(pattern), ParallelStyle::prepare_input);
  rule.input_layouts = Placement::split(1);
  return rule;
}

/// The plan of PyTorch's tutorial on tensor parallelism, for these names.
std::vector<ParallelRule> sequence_parallel_plan(const std::string& model, const std::string& layer) {
  using enum ParallelStyle;
  ParallelRule head = simple("lm_head", colwise);
  head.input_layouts = Placement::split(1);
  return {to_tokens(model + ".embed_tokens"),
          simple(layer + "input_layernorm", sequence),
          from_tokens(layer + "self_attn"),
          simple(layer + "self_attn.q_proj", colwise),
          simple(layer + "self_attn.k_proj", colwise),
          simple(layer + "self_attn.v_proj", colwise),
          to_tokens(layer + "self_attn.o_proj"),
          simple(layer + "post_attention_layernorm", sequence),
          from_tokens(layer + "mlp"),
          simple(layer + "mlp.gate_proj", colwise),
          simple(layer + "mlp.up_proj", colwise),
          to_tokens(layer + "mlp.down_proj"),
          simple(model + ".norm", sequence),
          std::move(head)};
}

[[noreturn]] void ask_for_plan(const std::string& model_type) {
  throw Error(Errc::unsupported, fmt::format("transformers has no plan for {} that this could follow", model_type),
              "tp.plan", "name its linear modules: {\"model.layers.*.mlp.down_proj\": \"rowwise\", ...}");
}

/// Whose attention finds the number of its heads in the width of a projection; others take it from the configuration.
bool has_free_heads(const std::string& model_type) { return is_like_llama(model_type) || model_type == "gpt_neox"; }

bool is_split_projection(const ParallelRule& rule) {
  constexpr std::string_view kNames[] = {"q_proj", "k_proj", "v_proj", "qkv_proj", "query_key_value",
                                         "query",  "key",    "value",  "qkv"};
  if (rule.style != ParallelStyle::colwise || rule.output_layouts == Placement{}) return false;
  const std::string_view name = std::string_view(rule.pattern).substr(rule.pattern.rfind('.') + 1);
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

}  // namespace

void check_heads(const std::vector<ParallelRule>& plan, std::int64_t degree, const Value& model_config) {
  if (degree == 1 || std::none_of(plan.begin(), plan.end(), is_split_projection)) return;
  const std::string type = text_model_type(model_config);
  if (!has_free_heads(type))
    throw Error(Errc::unsupported,
                fmt::format("the attention of {} takes the number of heads from its configuration", type), "tp.plan",
                "split its other matrices alone: in PyTorch, too, this one does not run on a part of the heads");
  for (const char* name : {"num_attention_heads", "num_key_value_heads"}) {
    const Value* found = text_config(model_config).find(name);
    const std::int64_t* heads = found ? found->as_integer() : nullptr;
    if (heads && *heads % degree != 0)
      throw Error(Errc::unsupported, fmt::format("{} = {} does not go into {} equal parts", name, *heads, degree),
                  "tp.degree", "PyTorch would cut a head, and fail");
  }
}

std::vector<ParallelRule> default_plan(Module& root, bool sequence_parallel, const Value& config) {
  using enum ParallelStyle;
  const std::string type = text_model_type(config);
  if (type == "gpt_neox" && !sequence_parallel)
    return {simple("gpt_neox.layers.*.attention.query_key_value", colwise),
            simple("gpt_neox.layers.*.attention.dense", rowwise),
            simple("gpt_neox.layers.*.mlp.dense_h_to_4h", colwise),
            simple("gpt_neox.layers.*.mlp.dense_4h_to_h", rowwise)};
  const Module* decoder = find_decoder(root);
  if (!is_like_llama(type) || !decoder) ask_for_plan(type);
  const std::string layer = decoder->full_name() + ".layers.*.";
  if (sequence_parallel) return sequence_parallel_plan(decoder->full_name(), layer);
  std::vector<ParallelRule> plan;
  for (const char* name : {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
                           "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"})
    plan.push_back(simple(layer + name, name[10] == 'o' || name[4] == 'd' ? rowwise : colwise));
  return plan;
}

}  // namespace tidemark
