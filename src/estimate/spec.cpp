#include "estimate/spec.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/error.h"
#include "base/number.h"
#include "estimate/layer_set.h"
#include "estimate/releases.h"
#include "program/sample_lengths.h"

namespace tidemark {
namespace {

constexpr std::int64_t kMaxImageSide = 1 << 16;
// Sizes of tensors are products of these; below the bounds none of them, times any width and eight bytes, passes 2^63.
constexpr std::int64_t kMaxTokens = 1LL << 32;  // of a batch
constexpr std::int64_t kMaxPixels = 1LL << 38;  // of a batch

class Check {
 public:
  explicit Check(const std::string& where) : where_(where) {}

  [[noreturn]] void refuse(const char* field, std::string message, std::string hint = {}) const {
    throw Error(Errc::bad_value, std::move(message), ValuePath{where_, field}.text(), std::move(hint));
  }

  /// Options of one optimizer are mistakes beside another: silently dropped they would be a wrong answer.
  void belongs(bool used, const char* field, OptimizerName chosen, std::initializer_list<OptimizerName> owners) const {
    if (!used || std::find(owners.begin(), owners.end(), chosen) != owners.end()) return;
    std::vector<std::string_view> names;
    for (OptimizerName owner : owners) names.push_back(name(owner));
    refuse(field, fmt::format("{} has no such option", name(chosen)),
           fmt::format("it belongs to {}", fmt::join(names, " and ")));
  }

  static std::string_view name(OptimizerName optimizer) { return kOptimizerNames[static_cast<std::size_t>(optimizer)]; }

 private:
  const std::string& where_;
};

void check_optimizer(const Spec& spec, const Check& check) {
  using enum OptimizerName;
  check.belongs(spec.momentum > 0, "momentum", spec.optimizer, {sgd, rmsprop});
  check.belongs(spec.amsgrad, "amsgrad", spec.optimizer, {adamw, adam});
  check.belongs(spec.nesterov, "nesterov", spec.optimizer, {sgd});
  check.belongs(spec.centered, "centered", spec.optimizer, {rmsprop});
  if (!is_of_torch(spec.optimizer)) {
    check.belongs(spec.optimizer_impl != OptimizerImpl::automatic, "optimizer_impl", spec.optimizer, {adamw, adam});
    check.belongs(spec.maximize, "maximize", spec.optimizer, {adamw, adam, sgd});
  }
  if (spec.nesterov && spec.momentum == 0) check.refuse("nesterov", "it needs a momentum above 0");
  // torch.optim refuses the same: fused exists for these alone on CUDA.
  check.belongs(spec.optimizer_impl == OptimizerImpl::fused, "optimizer_impl", spec.optimizer,
                {adamw, adam, sgd, adagrad});
}

void check_sizes(const Spec& spec, const Check& check) {
  ImageSize size;
  try {
    size = parse_image_size(spec.image_size);
  } catch (const Error& error) {
    check.refuse("image_size", error.message(), error.hint());
  }
  for (const std::int64_t tokens : {spec.seq, spec.target_seq})
    if (spec.batch * tokens > kMaxTokens)
      check.refuse("batch", fmt::format("{} samples of {} tokens are more than 2^32 tokens", spec.batch, tokens));
  if (static_cast<double>(spec.batch * kSamplingRate) * spec.audio_seconds > static_cast<double>(kMaxTokens))
    check.refuse("batch", fmt::format("{} samples of {:g} s of audio are more than 2^32 numbers", spec.batch,
                                      spec.audio_seconds));
  const std::int64_t images = checked_multiply(spec.batch, spec.images);
  if (images > 0 && size.height * size.width > kMaxPixels / images)
    check.refuse("image_size",
                 fmt::format("{} images of {} x {} are more than 2^38 pixels", images, size.height, size.width));
  const std::int64_t image_tokens = spec.image_tokens.value_or(0) * spec.images;
  if (spec.image_tokens && spec.batch * image_tokens > kMaxTokens)
    check.refuse("image_tokens", "the batch would hold more than 2^32 of them");
  if (spec.seq > 0 && image_tokens > spec.seq)
    check.refuse(
        "seq",
        fmt::format("{} images of {} tokens do not fit into {} tokens", spec.images, *spec.image_tokens, spec.seq),
        "seq counts the tokens of images too");
}

void check_version(const std::string& version, const char* field, const Check& check) {
  if (!version.empty() && !is_version(version))
    check.refuse(field, fmt::format("{} is not a version", Value(version).quoted()), "write it as 2.11.0");
}

/// What the schedules themselves raise a ValueError for, and shapes that differ between micro-batches.
void check_pipeline(const Spec& spec, const PipelineSpec& pp, const Check& check) {
  const std::int64_t stages = pp.degree * pp.stages_per_rank;
  if (spec.gpus % pp.degree != 0)
    check.refuse("pp.degree", fmt::format("{} GPUs are not pipelines of {}", spec.gpus, pp.degree));
  if (spec.batch % pp.microbatches != 0)
    check.refuse("pp.microbatches", fmt::format("a batch of {} is not {} equal parts", spec.batch, pp.microbatches),
                 "torch.distributed.pipelining takes micro-batches of one size");
  if (is_single(pp.schedule) && pp.stages_per_rank != 1)
    check.refuse("pp.stages_per_rank", "gpipe and 1f1b have one stage on each GPU",
                 "interleaved_1f1b and looped_bfs have several");
  if (pp.schedule == PipelineSchedule::one_f_one_b && pp.microbatches < stages)
    check.refuse("pp.microbatches", fmt::format("1f1b takes as many as there are stages, {}, or more", stages));
  const std::int64_t rounds = std::max<std::int64_t>(1, pp.microbatches / pp.degree);
  if (pp.schedule == PipelineSchedule::interleaved_1f1b && pp.microbatches % rounds != 0)
    check.refuse("pp.microbatches", fmt::format("interleaved_1f1b takes a multiple of its rounds, {}", rounds));
  if (!pp.layers.empty() && static_cast<std::int64_t>(pp.layers.size()) != stages)
    check.refuse("pp.layers", fmt::format("{} numbers are not one for each of {} stages", pp.layers.size(), stages));
}

/// What torch's own assertions refuse.
void check_context_parallel(const Spec& spec, const CpSpec& cp, const Check& check) {
  if (spec.tp || spec.pp)
    check.refuse("cp", fmt::format("it is not known together with {}", spec.tp ? "tp" : "pp"), "leave one of them out");
  if (spec.gpus % cp.degree != 0)
    check.refuse("cp.degree", fmt::format("{} GPUs are not groups of {}", spec.gpus, cp.degree),
                 "gpus counts all of them: those that share tokens, times those that share the data");
  const std::int64_t pieces = cp.degree * (cp.load_balance ? 2 : 1);
  if (spec.seq % pieces != 0)
    check.refuse("seq", fmt::format("{} tokens are not {} equal pieces for {} GPUs", spec.seq, pieces, cp.degree),
                 cp.load_balance ? "with load_balance each GPU has two pieces" : "each GPU has one piece");
}

void check_parallel(const Spec& spec, const Check& check) {
  using enum Parallel;
  if (spec.pp) check_pipeline(spec, *spec.pp, check);
  if (spec.cp) check_context_parallel(spec, *spec.cp, check);
  const std::int64_t parts = spec.tp ? spec.tp->degree : 1;
  if (spec.tp && spec.tp->sequence_parallel && spec.seq % parts != 0)
    check.refuse("seq", fmt::format("{} tokens are not shared evenly by {} GPUs", spec.seq, parts),
                 "what each of them has of uneven shares is not known");
  const std::int64_t split = ranks_of_one_copy(spec);
  if (spec.gpus % split != 0)
    check.refuse("tp.degree", fmt::format("{} GPUs are not a multiple of {}", spec.gpus, split),
                 "gpus counts all of them: those that split matrices, times those that split the data");
  const std::int64_t copies = spec.fsdp2 ? spec.fsdp2->data_parallel_replicate_degree.value_or(1) : 1;
  if (spec.gpus / split % copies != 0)
    check.refuse("fsdp2.data_parallel_replicate_degree",
                 fmt::format("{} GPUs are not {} groups of equal size", spec.gpus / split, copies),
                 "what tp and pp leave of gpus is this many groups, in each of which the GPUs shard");
  if (spec.rank >= spec.gpus)
    check.refuse("rank", fmt::format("of {} GPUs the last is {}", spec.gpus, spec.gpus - 1), "ranks count from 0");
  if (spec.gpus_per_node > 0 && spec.gpus % spec.gpus_per_node != 0)
    check.refuse("gpus_per_node", fmt::format("{} GPUs are not nodes of {}", spec.gpus, spec.gpus_per_node),
                 "every node has as many, and together they are gpus");
  if (spec.ddp && spec.parallel != ddp) check.refuse("ddp", "they are options of ddp", "set parallel to ddp");
  if (spec.zero && spec.parallel != zero1 && spec.parallel != zero2 && spec.parallel != zero3)
    check.refuse("zero", "they are options of zero1, zero2 and zero3", "set parallel to one of them");
  if (spec.ep && spec.parallel != ep) check.refuse("ep", "they are options of ep", "set parallel to ep");
  if (spec.load == Load::wrapped && spec.parallel != fsdp1 && spec.parallel != fsdp2 && spec.parallel != gemini)
    check.refuse("load", "there is no wrapper that would move the weights",
                 "set parallel to fsdp1, fsdp2 or gemini, or load to to");
  if (spec.load == Load::device_map && !is_alone(spec))
    check.refuse("load", "device_map=\"auto\" lays one model over all GPUs", "leave load out");
  if (spec.load == Load::adapted && (!spec.lora || spec.quantization))
    check.refuse("load", "there are no adapters that could be made before the weights are on the card",
                 "set lora, and no quantization, or load to to");
  if (spec.load == Load::adapted && !runs_whole_model(spec))
    check.refuse("load", "adapters of a model of which each GPU has a part are made elsewhere", "set load to to");
  if (spec.load == Load::device && !runs_whole_model(spec))
    check.refuse("load", "a model of which each GPU has a part is not brought onto one whole", "set load to to");
  if (spec.gemini && spec.parallel != gemini)
    check.refuse("gemini", "they are options of gemini", "set parallel to gemini");
  if (spec.fsdp1 && spec.parallel != fsdp1) check.refuse("fsdp1", "they are options of fsdp1", "set parallel to fsdp1");
  if (spec.fsdp2 && spec.parallel != fsdp2) check.refuse("fsdp2", "they are options of fsdp2", "set parallel to fsdp2");
}

/// Limits of TRL's trainers with their own loss; `data`: what their samples are.
void check_trl(const Spec& spec, const Check& check, std::string_view data) {
  if (!is_alone(spec))
    check.refuse("loop", "it is supported on one GPU", "set gpus to 1, or run the program itself with tidemark run");
  if (spec.images > 0)
    check.refuse("images", fmt::format("{} with images are unsupported", data),
                 "leave it out, or run the program with tidemark run");
  if (spec.loop == LoopKind::reward_trainer) return;
  if (spec.checkpoint_every > 1 || !spec.checkpoint_layers.empty() || !spec.checkpoint_save.empty())
    check.refuse("checkpointing", "the trainer turns checkpoints off and on again, of all layers",
                 "leave checkpoint_every, checkpoint_layers and checkpoint_save out");
}

/// Limits of trainers of preferences.
void check_preferences(const Spec& spec, const Check& check) {
  check_trl(spec, check, "pairs");
  // trl: trainer/kto_trainer.py, __init__ (1.16.0): the KL term would be the reward
  if (spec.loop == LoopKind::kto_trainer && spec.batch < 2)
    check.refuse("batch", "KTOTrainer takes two samples or more in a batch", "set batch to 2");
}

/// Limits of GRPOTrainer.  trl: trainer/grpo_config.py, __post_init__ (1.16.0)
void check_grpo(const Spec& spec, const Check& check) {
  if (spec.loop != LoopKind::grpo_trainer) {
    if (spec.grpo) check.refuse("grpo", "they are options of grpo_trainer", "set loop to grpo_trainer");
    return;
  }
  check_trl(spec, check, "prompts");
  const GrpoSpec grpo = spec.grpo.value_or(GrpoSpec{});
  const std::int64_t samples = spec.batch * spec.grad_accumulation, group = grpo.num_generations;
  if (samples < 2)
    check.refuse("batch", "GRPOTrainer compares two completions of a prompt or more",
                 "set batch, or grad_accumulation, to 2 or more");
  if (group == 1 || (group > 1 && samples % group != 0))
    check.refuse("grpo.num_generations",
                 fmt::format("a step has {} completions (batch times grad_accumulation), in groups of two or more that "
                             "divide them",
                             samples),
                 fmt::format("set it to {}, or leave it out", usual_num_generations(samples)));
  if (grpo.vllm_gpu_memory_utilization > 0 && !grpo.use_vllm)
    check.refuse("grpo.vllm_gpu_memory_utilization", "no vLLM samples", "set grpo.use_vllm");
  if (spec.seq > 0 && grpo.max_completion_length >= spec.seq)
    check.refuse("grpo.max_completion_length", fmt::format("it leaves no prompt of {} tokens (seq)", spec.seq),
                 "set seq to the tokens of a prompt and its completion");
}

/// What the Trainer decides itself (train/trainer_loop.cpp).
void check_loop(const Spec& spec, const Check& check) {
  if (spec.loop == LoopKind::plain) return;
  if (spec.zero_grad != ZeroGrad::after_step || !spec.set_to_none)
    check.refuse("zero_grad", "the Trainer frees gradients behind the step", "leave it out");
  if (!spec.labels) check.refuse("labels", "the Trainer's batches have labels", "leave it out");
  if (spec.grad_scaler != (spec.autocast == Autocast::fp16))
    check.refuse("grad_scaler", "the Trainer scales the loss under autocast to fp16, and else does not");
  if (is_of_preferences(spec.loop)) check_preferences(spec, check);
}

/// Options that generate() has no part in, or that are unsupported beside it.
void check_generation(const Spec& spec, const Check& check) {
  if (spec.generate == 0 && !spec.generation_config.is_null())
    check.refuse("generation_config", "only generate() reads it", "leave it out, or set generate");
  if (spec.generate == 0) return;
  if (!is_alone(spec))
    check.refuse("generate", "it is supported on one GPU", "set gpus to 1, or run the program with tidemark run");
  if (spec.images > 0)
    check.refuse("images", "a prompt with images is unsupported", "leave it out, or run the program with tidemark run");
  if (spec.loop != LoopKind::plain || spec.checkpointing != Checkpointing::none || spec.autocast != Autocast::none)
    check.refuse("generate", "it trains nothing, so loop, checkpointing and autocast have no part in it",
                 "leave them out");
  if (spec.use_cache == UseCache::no)
    check.refuse("use_cache", "generate() without a cache is unsupported", "leave it out");
  if (spec.padding) check.refuse("padding", "prompts of several lengths are unsupported", "leave it out");
  if (spec.attn == Attention::eager) check.refuse("attn", "generate() is supported with sdpa", "leave it out");
}

void check_names(const std::vector<std::string>& names, const char* field, const Check& check) {
  if (std::find(names.begin(), names.end(), "") != names.end())
    check.refuse(field, "an empty text is in every name", "leave it out, or write part of a parameter's name");
}

void check_layers(const std::vector<std::string>& layers, const char* field, const Check& check) {
  try {
    parse_layers(layers);
  } catch (const Error& error) {
    check.refuse(field, error.message(), error.hint());
  }
}

void check_checkpoint_save(const Spec& spec, const Check& check) {
  check_layers(spec.checkpoint_save_layers, "checkpoint_save_layers", check);
  if (spec.checkpoint_save.empty() && spec.checkpoint_save_layers.empty()) return;
  if (spec.checkpoint_save.empty())
    check.refuse("checkpoint_save_layers", "nothing is kept in them", "say of which operators with checkpoint_save");
  check_names(spec.checkpoint_save, "checkpoint_save", check);
  if (spec.checkpointing != Checkpointing::non_reentrant)
    check.refuse("checkpoint_save", "torch keeps results of operators in non-reentrant checkpoints alone",
                 "set checkpointing to non_reentrant");
  if (!runs_whole_model(spec)) check.refuse("checkpoint_save", "it is known on one GPU, and with ddp", "leave it out");
}

void check_checkpointing(const Spec& spec, const Check& check) {
  const bool is_off = spec.checkpointing == Checkpointing::none;
  if (spec.checkpoint_every > 1 && is_off)
    check.refuse("checkpoint_every", "nothing is checkpointed", "set checkpointing to non_reentrant or reentrant");
  check_checkpoint_save(spec, check);
  if (spec.checkpoint_layers.empty()) return;
  if (is_off)
    check.refuse("checkpoint_layers", "nothing is checkpointed", "set checkpointing to non_reentrant or reentrant");
  if (spec.checkpoint_every > 1)
    check.refuse("checkpoint_layers", "checkpoint_every chooses layers too", "leave one of the two out");
  check_layers(spec.checkpoint_layers, "checkpoint_layers", check);
}

void check_bits(const QuantizationSpec& asked, const Check& check) {
  const QuantizationSpec usual;
  if (!asked.load_in_8bit && asked.threshold != usual.threshold)
    check.refuse("quantization.threshold", "it is of 8 bits", "set load_in_8bit");
  const bool says_4bit = asked.quant_type != usual.quant_type || asked.use_double_quant ||
                         asked.compute_dtype != usual.compute_dtype || asked.quant_storage != usual.quant_storage;
  if (asked.load_in_8bit && says_4bit)
    check.refuse("quantization.load_in_8bit",
                 "quant_type, use_double_quant, compute_dtype and quant_storage are of 4 bits", "leave them out");
}

void check_quantization(const Spec& spec, const Check& check) {
  if (!spec.quantization) return;
  check_bits(*spec.quantization, check);
  if (!spec.lora && spec.train_only.empty() && spec.generate == 0)
    check.refuse("quantization", "quantized weights are not trained",
                 "train adapters beside them: set lora, {} for its defaults; or name what else trains with train_only");
  if (!spec.lora &&
      runs_as_trainer(spec))  // transformers: trainer_utils.py, validate_quantization_for_training (5.17.0)
    check.refuse("quantization", "the Trainer does not train a quantized model without adapters",
                 "set lora, {} for its defaults");
  if (!runs_whole_model(spec)) check.refuse("quantization", "it is known on one GPU, and with ddp", "leave it out");
  if (!spec.checkpoint_save.empty())
    check.refuse("checkpoint_save", "it is not known which operators of bitsandbytes keep their results",
                 "leave it out");
  if (spec.quantization->skip_modules)
    check_names(*spec.quantization->skip_modules, "quantization.skip_modules", check);
}

void check_dora(const Spec& spec, const Check& check) {
  if (!spec.lora || !spec.lora->use_dora) return;
  if (spec.quantization && spec.quantization->load_in_8bit)
    check.refuse("lora.use_dora", "DoRA beside weights in 8 bits is not modelled",
                 "leave one of the two out, or run the program itself with tidemark run");
  if (!runs_whole_model(spec))
    check.refuse("lora.use_dora", "it is supported on one GPU, and with ddp", "leave it out");
}

std::optional<std::int64_t> read_side(std::string_view text) {
  const auto side = parse_number<std::int64_t>(text);
  return side && *side >= 0 && *side <= kMaxImageSide ? side : std::nullopt;
}

}  // namespace

double parse_routing(std::string_view text) {
  constexpr std::string_view kSkewed = "skewed:";
  if (text == "balanced") return 0;
  const bool is_skewed = text.starts_with(kSkewed);
  const double share = is_skewed ? parse_number<double>(text.substr(kSkewed.size())).value_or(-1) : -1;
  if (!(share >= 0 && share <= 1))
    throw Error(Errc::bad_value, fmt::format("{} is not a routing", Value(text).quoted()), {},
                "write balanced or skewed:X, with X the share of tokens (0 to 1) that choose the first experts");
  return share;
}

bool runs_whole_model(const Spec& spec) {
  const bool is_whole = spec.parallel == Parallel::none || spec.parallel == Parallel::ddp;
  return is_whole && !spec.tp && !spec.cp && !spec.pp;
}

std::int64_t ranks_of_one_copy(const Spec& spec) {
  return (spec.tp ? spec.tp->degree : 1) * (spec.pp ? spec.pp->degree : 1) * (spec.cp ? spec.cp->degree : 1);
}

bool is_alone(const Spec& spec) { return spec.gpus == 1 && spec.parallel == Parallel::none; }

bool runs_as_trainer(const Spec& spec) {
  if (spec.loop == LoopKind::plain) return false;
  if (is_zero(spec.parallel)) return !spec.tp && !spec.cp && !spec.pp;
  if (spec.parallel != Parallel::fsdp2) return runs_whole_model(spec);
  const Fsdp2Spec asked = spec.fsdp2.value_or(Fsdp2Spec{});
  return spec.gpus > 1 && spec.load == Load::wrapped && spec.autocast == Autocast::none &&
         asked.param_dtype == asked.reduce_dtype && !asked.data_parallel_replicate_degree && !spec.tp && !spec.cp &&
         !spec.pp;
}

std::int64_t samples_of_pass(const Spec& spec) { return takes_pairs(spec.loop) ? 2 * spec.batch : spec.batch; }

std::string head_of(const Spec& spec) {
  if (spec.generate > 0 && spec.head == "auto") return "prefill";
  return spec.loop == LoopKind::reward_trainer && spec.head == "auto" ? "sequence_classification" : spec.head;
}

bool scores_by_reference(const Spec& spec) { return has_reference(spec.loop) || (spec.grpo && spec.grpo->beta > 0); }

bool has_second_model(const Spec& spec) { return scores_by_reference(spec) && !spec.lora; }

std::int64_t usual_num_generations(std::int64_t samples) {
  constexpr std::int64_t kOfTrl = 8;
  for (std::int64_t group = std::min(kOfTrl, samples); group > 1; --group)
    if (samples % group == 0) return group;
  return samples;  // no group of up to 8 divides them
}

GrpoOptions grpo_options_of(const Spec& spec, std::int64_t tokens) {
  constexpr std::int64_t kOfTrl = 512;
  const GrpoSpec grpo = spec.grpo.value_or(GrpoSpec{});
  const std::int64_t usual_length = tokens > kOfTrl ? kOfTrl : tokens / 2;
  const std::int64_t groups = usual_num_generations(spec.batch * spec.grad_accumulation);
  return {.completion_tokens = grpo.max_completion_length > 0 ? grpo.max_completion_length : usual_length,
          .num_generations = grpo.num_generations > 0 ? grpo.num_generations : groups,
          .has_reference = grpo.beta > 0,
          .use_vllm = grpo.use_vllm,
          .loss_type = grpo.loss_type,
          .of_sequence = grpo.importance_sampling_level == SamplingLevel::sequence};
}

std::int64_t ranks_per_node(const Spec& spec) { return spec.gpus_per_node > 0 ? spec.gpus_per_node : spec.gpus; }

ImageSize parse_image_size(std::string_view text) {
  const std::size_t cross = text.find('x');
  const auto height = read_side(text.substr(0, cross));
  const auto width = cross == std::string_view::npos ? height : read_side(text.substr(cross + 1));
  if (!height || !width || (*height == 0) != (*width == 0))
    throw Error(Errc::bad_value, fmt::format("{} is not the size of an image", Value(text).quoted()), {},
                fmt::format("write 336 or 1080x1920 (height x width), at most {} each", kMaxImageSide));
  return {*height, *width};
}

void check_spec(const Spec& spec, const std::string& where) {
  const Check check(where);
  for (const auto& [field, value] :
       {std::pair("model", &spec.model), std::pair("generation_config", &spec.generation_config)})
    if (!value->is_null() && !value->as_text() && !value->as_map())
      check.refuse(field, fmt::format("expected a path or a map, found {}", value->quoted()));
  check_sizes(spec, check);
  try {
    parse_routing(spec.moe_routing);
  } catch (const Error& error) {
    check.refuse("moe_routing", error.message(), error.hint());
  }
  check_optimizer(spec, check);
  check_version(spec.torch, "torch", check);
  check_version(spec.transformers, "transformers", check);
  check_names(spec.freeze, "freeze", check);
  check_names(spec.train_only, "train_only", check);
  check_parallel(spec, check);
  check_loop(spec, check);
  check_grpo(spec, check);
  check_generation(spec, check);
  check_checkpointing(spec, check);
  check_quantization(spec, check);
  check_dora(spec, check);
  if (spec.max_grad_norm == 0.0)
    check.refuse("max_grad_norm", "gradients clipped to 0 train nothing", "leave it out for no clipping");
  if (!spec.memory.empty()) {
    try {
      parse_bytes(spec.memory);
    } catch (const Error& error) {
      check.refuse("memory", error.message(), error.hint());
    }
  }
}

Spec read_spec(const Value& value, const std::string& where) {
  Spec spec;
  read_fields(with_method(value), spec, where);
  check_spec(spec, where);
  return spec;
}

namespace {

/// The items of a map that differ from `from`, or from their fields' defaults where there was none.
Value differences(const Value& from, const Value& to, const std::vector<FieldDescription>& fields) {
  Value changed = Value::Map();
  for (const FieldDescription& field : fields) {
    const Value* now = to.find(field.name);
    const Value* before = from.find(field.name);
    if (!now || (before && *before == *now)) continue;
    if (!now->as_map() || field.fields.empty()) {
      changed.append(field.name, *now);
      continue;
    }
    Value initial = Value::Map();
    for (const FieldDescription& inner : field.fields) initial.append(inner.name, inner.initial);
    changed.append(field.name, differences(before && before->as_map() ? *before : initial, *now, field.fields));
  }
  return changed;
}

}  // namespace

Value changes_of(const Spec& from, const Spec& spec) {
  return differences(write_fields(from), write_fields(spec), describe_fields<Spec>());
}

}  // namespace tidemark
