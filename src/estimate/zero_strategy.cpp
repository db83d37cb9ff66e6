#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/release.h"
#include "estimate/strategies.h"
#include "parallel/zero.h"
#include "parallel/zero3.h"
#include "parallel/zero_init.h"
#include "train/decay.h"

namespace tidemark {
namespace {

/// What DeepSpeed does otherwise, or what is not known of it.
void check_training(const Spec& spec) {
  if (spec.dtype != WeightDtype::bf16) refuse("dtype", "ZeRO is known with bf16 weights alone", "set dtype to bf16");
  if (spec.autocast != Autocast::none) refuse("autocast", "ZeRO is known without autocast");
  if (spec.grad_scaler) refuse("grad_scaler", "DeepSpeed scales the loss itself");
  if (spec.max_grad_norm) refuse("max_grad_norm", "DeepSpeed clips gradients itself", "set zero.gradient_clipping");
  if (spec.zero_grad != ZeroGrad::after_step) refuse("zero_grad", "DeepSpeed frees gradients in its step");
  if (!spec.set_to_none) refuse("set_to_none", "DeepSpeed frees gradients in its step");
  if (spec.optimizer != OptimizerName::adamw && spec.optimizer != OptimizerName::adam)
    refuse("optimizer", "ZeRO is known with torch.optim.AdamW and Adam");
}

/// The groups of the optimizer that the engine is given.
std::vector<TensorList> optimizer_groups(Module& root, const Spec& spec) {
  std::vector<TensorList> groups =
      runs_as_trainer(spec) ? decay_groups(root) : std::vector<TensorList>{trainable_parameters(root)};
  if (groups.empty() || groups.front().empty()) throw Error(Errc::bad_value, "nothing is left to train", "freeze");
  return groups;
}

/// Options that stage 3 alone has.
void check_stages_1_and_2(const ZeroSpec& asked) {
  const auto of_stage_3 = [](bool is_set, const char* field) {
    if (is_set) refuse(field, "it is an option of zero3", "set parallel to zero3, or leave it out");
  };
  of_stage_3(asked.offload_param != Offload::none, "zero.offload_param");
  of_stage_3(asked.init != ZeroInit::none, "zero.init");
  of_stage_3(asked.sub_group_size.has_value(), "zero.sub_group_size");
  of_stage_3(asked.stage3_prefetch_bucket_size.has_value(), "zero.stage3_prefetch_bucket_size");
  of_stage_3(asked.stage3_param_persistence_threshold.has_value(), "zero.stage3_param_persistence_threshold");
  of_stage_3(asked.stage3_model_persistence_threshold.has_value(), "zero.stage3_model_persistence_threshold");
  of_stage_3(asked.stage3_max_live_parameters.has_value(), "zero.stage3_max_live_parameters");
  of_stage_3(asked.stage3_max_reuse_distance.has_value(), "zero.stage3_max_reuse_distance");
  if (!asked.contiguous_gradients && asked.overlap_comm.value_or(false))
    refuse("zero.overlap_comm", "reducing gradients where they lie on another stream is not modelled",
           "leave zero.contiguous_gradients on");
}

/// Options that stages 1 and 2 alone have.
void check_stage_3(const ZeroSpec& asked) {
  const ZeroSpec known;  // its defaults
  const auto of_stages_1_and_2 = [](bool is_set, const char* field) {
    if (is_set) refuse(field, "it is an option of zero1 and zero2", "set parallel to zero2, or leave it out");
  };
  of_stages_1_and_2(asked.use_multi_rank_bucket_allreduce != known.use_multi_rank_bucket_allreduce,
                    "zero.use_multi_rank_bucket_allreduce");
  of_stages_1_and_2(asked.allgather_bucket_size != known.allgather_bucket_size, "zero.allgather_bucket_size");
}

/// Models whose modules are known to be called one by one, as the reference calls them: stage 3 gathers ahead by that.
constexpr std::array<std::string_view, 22> kCalledAsKnown{
    "BioGptForCausalLM",
    "BloomForCausalLM",
    "CodeGenForCausalLM",
    "CwmForCausalLM",
    "GPT2LMHeadModel",
    "GPTBigCodeForCausalLM",
    "GPTNeoForCausalLM",
    "GPTNeoXForCausalLM",
    "Gemma2ForCausalLM",
    "GemmaForCausalLM",
    "LlamaForCausalLM",
    "MistralForCausalLM",
    "MixtralForCausalLM",
    "LlavaForConditionalGeneration",
    "OPTForCausalLM",
    "Phi3ForCausalLM",
    "Qwen2ForCausalLM",
    "Qwen2MoeForCausalLM",
    "Qwen2VLForConditionalGeneration",
    "Qwen3ForCausalLM",
    "Qwen3MoeForCausalLM",
    "LlamaForSequenceClassification",
};

bool has_packed_attention(Module& module) {
  if (module.has_parameter("in_proj_weight")) return true;
  return std::any_of(module.children().begin(), module.children().end(),
                     [](const std::unique_ptr<Module>& child) { return has_packed_attention(*child); });
}

void check_model(Module& root, const Spec& spec) {
  const bool is_known =
      std::find(kCalledAsKnown.begin(), kCalledAsKnown.end(), root.class_name) != kCalledAsKnown.end();
  if (!is_known)
    throw Error(Errc::unsupported, fmt::format("how {} calls its modules is not known to zero3", root.class_name),
                "parallel", "zero2 is known with every model");
  if (spec.checkpointing == Checkpointing::non_reentrant && root.class_name == "GPTNeoForCausalLM")
    refuse("checkpointing", "zero3 is known with this model without checkpointing, or with reentrant",
           "set it to reentrant, or take zero2");
  if (spec.attn == Attention::eager && root.class_name == "GPT2LMHeadModel")
    refuse("attn", "zero3 is known with this model and sdpa alone", "leave it out, or take zero2");
  if (has_packed_attention(root))
    refuse("parallel", "nn.MultiheadAttention is not known to zero3", "zero2 is known with every model");
}

}  // namespace

StepHooks with_zero(Run& run, Module& root, const Spec& spec, const Prepared& /*before*/) {
  const ZeroSpec asked = spec.zero.value_or(ZeroSpec{});
  check_training(spec);
  check_stages_1_and_2(asked);
  return zero(run, root, optimizer_groups(root, spec),
              {.stage = spec.parallel == Parallel::zero1 ? 1 : 2,
               .ranks = spec.gpus,
               .rank = spec.rank,
               .grad_accumulation = spec.grad_accumulation,
               .reduce_bucket_size = asked.reduce_bucket_size,
               // DeepSpeed offloads contiguous gradients alone, whatever it is told.
               .contiguous_gradients = asked.contiguous_gradients || asked.offload_optimizer == Offload::cpu,
               .overlap_comm = asked.overlap_comm.value_or(false),
               .reduce_scatter = asked.reduce_scatter,
               .use_multi_rank_bucket_allreduce = asked.use_multi_rank_bucket_allreduce,
               .offload_optimizer = asked.offload_optimizer == Offload::cpu,
               .gradient_clipping = asked.gradient_clipping,
               .scale_wrt_gas = !runs_as_trainer(spec)});
}

namespace {

Zero3Options zero3_options(const Spec& spec) {
  const ZeroSpec asked = spec.zero.value_or(ZeroSpec{});
  const Zero3Options known;  // its defaults
  return {.ranks = spec.gpus,
          .rank = spec.rank,
          .grad_accumulation = spec.grad_accumulation,
          .reduce_bucket_size = asked.reduce_bucket_size,
          .sub_group_size = asked.sub_group_size.value_or(known.sub_group_size),
          .prefetch_bucket_size = asked.stage3_prefetch_bucket_size.value_or(known.prefetch_bucket_size),
          .param_persistence_threshold =
              asked.stage3_param_persistence_threshold.value_or(known.param_persistence_threshold),
          .model_persistence_threshold =
              asked.stage3_model_persistence_threshold.value_or(known.model_persistence_threshold),
          .max_live_parameters = asked.stage3_max_live_parameters.value_or(known.max_live_parameters),
          .max_reuse_distance = asked.stage3_max_reuse_distance.value_or(known.max_reuse_distance),
          .contiguous_gradients = asked.contiguous_gradients,
          .overlap_comm = asked.overlap_comm.value_or(known.overlap_comm),
          .reduce_scatter = asked.reduce_scatter,
          .offload_optimizer = asked.offload_optimizer == Offload::cpu,
          .offload_param = asked.offload_param == Offload::cpu,
          .gradient_clipping = asked.gradient_clipping,
          .scale_wrt_gas = !runs_as_trainer(spec)};
}

/// RotaryEmbeddingConfigMixin.standardize_rope_params: of the text, also as older files have it.
std::optional<std::string> said_rope_type(const Value& model_config) {
  const Value* text = model_config.find("text_config");
  for (const char* key : {"rope_scaling", "rope_parameters"})
    for (const Value* part : {text, &model_config})
      if (const Value* rope = part ? part->find(key) : nullptr; rope && rope->as_map())
        for (const char* name : {"rope_type", "type"})
          if (const Value* type = rope->find(name); type && type->as_text()) return *type->as_text();
  return std::nullopt;
}

/// Where config.json says none; transformers: models/cwm/configuration_cwm.py (5.17.0)
std::string rope_type_of(const Module& root, const Value& model_config) {
  return said_rope_type(model_config).value_or(root.class_name == "CwmForCausalLM" ? "llama3" : "default");
}

/// What is not known of zero.Init beside what is not known of stage 3.
void check_made_in_parts(Module& root, const Spec& spec) {
  constexpr const char* kField = "zero.init";
  if (spec.parallel != Parallel::zero3)
    refuse(kField, "it is an option of zero3", "set parallel to zero3, or leave it out");
  check_training(spec);
  check_model(root, spec);
  if (spec.quantization) refuse(kField, "transformers makes quantized models whole", "leave it out");
  // The frequencies of its tower are not fp32 then, and its program has it that what they are cast to is kept.
  if (root.class_name == "Qwen2VLForConditionalGeneration")
    refuse(kField, "what this model makes of buffers that are not fp32 is not known", "leave it out, or take zero2");
  // 4.57.6 computes rotary embeddings in fp32, and fills no model of from_config under zero.Init (modeling_utils.py).
  const std::optional<Release> release = release_of(spec.transformers);
  if (release && release->major < 5) refuse(kField, "it is known of transformers 5", "leave it out");
  // initialize_weights_zero3 gathers a module's children with it: 5.23.0
  if (spec.zero->init == ZeroInit::from_config && release && *release > Release{5, 17})
    refuse(kField, "from_config is known of transformers 5.17.0 under zero.Init", "set it to from_pretrained");
  if (spec.lora && !spec.zero->contiguous_gradients)
    refuse("zero.contiguous_gradients", "gradients of adapters that are not bf16 are known in one buffer alone",
           "leave it on");
}

}  // namespace

StepHooks with_zero3(Run& run, Module& root, const Spec& spec, const Prepared& before) {
  check_training(spec);
  check_stage_3(spec.zero.value_or(ZeroSpec{}));
  check_model(root, spec);
  return zero3(run, root, optimizer_groups(root, spec), zero3_options(spec), before.parts);
}

bool is_made_in_parts(const Spec& spec) { return spec.zero && spec.zero->init != ZeroInit::none; }

std::shared_ptr<ParameterStore> load_in_parts(Run& run, Module& root, const Spec& spec, const Value& model_config) {
  check_made_in_parts(root, spec);
  return make_in_parts(
      run, root, zero3_options(spec),
      {.from_config = spec.zero->init == ZeroInit::from_config, .rope_type = rope_type_of(root, model_config)});
}

}  // namespace tidemark
