#include "estimate/program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/did_you_mean.h"
#include "base/error.h"
#include "base/release.h"
#include "estimate/communicators.h"
#include "estimate/device.h"
#include "estimate/generation.h"
#include "estimate/layer_set.h"
#include "estimate/quantization.h"
#include "estimate/releases.h"
#include "estimate/strategies.h"
#include "estimate/trained_parts.h"
#include "nn/device_map.h"
#include "nn/embeddings.h"
#include "nn/lora.h"
#include "tensor/mismatch.h"
#include "train/decay.h"

namespace tidemark {
namespace {

/// Whether embeddings' outputs are told to need gradients where layers run again: gradient_checkpointing_enable does
/// that for models of text (5.17.0); before transformers 5 PEFT alone did (4.57.6; peft_model.py,
/// _prepare_model_for_gradient_checkpointing).
bool asks_gradients_of_embeddings(const Spec& spec) {
  const std::optional<Release> release = release_of(spec.transformers);
  if (spec.input_require_grads) return true;
  return spec.checkpointing != Checkpointing::none && (spec.lora || !release || release->major >= 5);
}

/// PreTrainedModel.enable_input_require_grads: a hook on every input embedding.
void enable_input_require_grads(Module& module) {
  if (is_input_embedding(module)) module.output_requires_grad = true;
  for (const std::unique_ptr<Module>& child : module.children()) enable_input_require_grads(*child);
}

OptimizerMaker maker_of(OptimizerName name) {
  constexpr OptimizerMaker kMakers[] = {adamw,
                                        adam,
                                        sgd,
                                        adafactor,
                                        rmsprop,
                                        adagrad,
                                        adamw_8bit,
                                        paged_adamw_8bit,
                                        paged_adamw_32bit,
                                        lion_8bit,
                                        lion_32bit,
                                        paged_lion_8bit,
                                        paged_lion_32bit,
                                        transformers_adafactor};
  static_assert(std::size(kMakers) == kOptimizerNames.size());
  return kMakers[static_cast<int>(name)];
}

std::int64_t elements_of(const TensorList& tensors) {
  std::int64_t elements = 0;
  for (const Tensor& tensor : tensors) elements += tensor.elements();
  return elements;
}

Optimizer make_optimizer(Module& root, const Spec& spec, TensorList parameters) {
  constexpr OptimizerLoop kLoops[] = {OptimizerLoop::automatic, OptimizerLoop::foreach, OptimizerLoop::fused,
                                      OptimizerLoop::for_loop};
  static_assert(std::size(kLoops) == kOptimizerImplNames.size());
  if (parameters.empty()) parameters = trainable_parameters(root);
  if (parameters.empty()) throw Error(Errc::bad_value, "nothing is left to train", "freeze");
  return maker_of(spec.optimizer)(std::move(parameters), {.loop = kLoops[static_cast<int>(spec.optimizer_impl)],
                                                          .momentum = spec.momentum,
                                                          .weight_decay = spec.weight_decay,
                                                          .amsgrad = spec.amsgrad,
                                                          .nesterov = spec.nesterov,
                                                          .centered = spec.centered,
                                                          .maximize = spec.maximize});
}

std::shared_ptr<const LayerRanges> layers_of(const std::vector<std::string>& texts) {
  return texts.empty() ? nullptr : std::make_shared<const LayerRanges>(parse_layers(texts));
}

bool is_by_device_map(Load how) { return how == Load::device_map || how == Load::device; }

void to_device(Run& run, Module& root, Load how = Load::to) {
  const Setting<Category> category(run.category, Category::parameters);
  is_by_device_map(how) ? load_by_device_map(run, root, how == Load::device_map) : root.to_device(run);
}

/// Models that are made, changed and cut on the host.  Of a batch a rank loads what its stages take.
Stages load_stages(Run& run, const std::vector<std::unique_ptr<Model>>& models, const Spec& spec,
                   const std::string& model_type, BatchSizes& sizes, Recorder& recorder) {
  Stages all{layers_of_stages(*models.front(), spec)};
  const std::vector<std::int64_t> here = stages_of_rank(pipeline_shape(*spec.pp), place_of(spec).stage);
  for (std::size_t i = 0; i < models.size(); ++i) {
    Model& model = *models[i];
    if (spec.lora)
      add_lora_on_host(model.root, lora_options(spec, model.root, model_type, recorder));
    else
      freeze(model.root, spec, recorder);
    if (asks_gradients_of_embeddings(spec)) enable_input_require_grads(model.root);
    all.first_trained = first_trained_stage(model, spec, all.layers);
    keep_stage(model, here[i], all.layers);
    to_device(run, model.root);
  }
  if (!has_stage(spec, 0)) sizes.input_ids.reset(), sizes.pixel_values.reset();
  if (!has_stage(spec, static_cast<std::int64_t>(all.layers.size()) - 1)) sizes.labels.reset();
  return all;
}

/// What torch.amp.GradScaler raises a ValueError for.
void check_scaler(const Optimizer& optimizer, const Spec& spec) {
  if (!spec.grad_scaler || (optimizer.supports_amp_scaling && !spec.max_grad_norm)) return;
  for (const Tensor& parameter : optimizer.parameters)
    if (parameter.dtype() == Dtype::f16)
      throw Error(Errc::bad_value, "GradScaler does not unscale fp16 gradients", "grad_scaler",
                  "train fp32 weights with autocast: fp16");
}

void check_layers(const Run& run, const std::vector<std::string>& layers, const char* field) {
  for (const auto& [first, last] : parse_layers(layers))
    if (last >= run.layers)
      throw Error(Errc::bad_value, fmt::format("the model has no layer {}", last), field,
                  fmt::format("there are {}, counted from 0", run.layers));
}

/// Of a pipeline the rank of the last stage sees the last layer.
void check_layers(const Run& run, const Spec& spec) {
  if (spec.pp && place_of(spec).stage != spec.pp->degree - 1) return;
  check_layers(run, spec.checkpoint_layers, "checkpoint_layers");
  check_layers(run, spec.checkpoint_save_layers, "checkpoint_save_layers");
}

void check_kept(const Run& run, const Spec& spec) {
  for (const std::string& name : spec.checkpoint_save)
    if (std::ranges::find(run.kernels, name) == run.kernels.end())
      throw Error(Errc::bad_value, fmt::format("no checkpointed layer runs {}, as far as operators are known", name),
                  "checkpoint_save", fmt::format("they run {}", fmt::join(run.kernels, ", ")));
}

/// Where no card bounds the weights: below this no sum of them, padded and times the size of a number, passes 2^63.
void check_weights(Module& root) {
  constexpr std::int64_t kMostWeights = 1LL << 50;
  std::int64_t room = kMostWeights;
  visit_parameters(root, [&](const Module&, const Parameter& parameter) {
    const std::int64_t weights = elements_of(parameter.sizes);
    if (weights > room) throw Error(Errc::bad_value, "the model has more than 2^50 weights", "config.json");
    room -= weights;
  });
}

bool has_experts(const Value& config) {
  const Value* text = config.find("text_config");
  for (const char* key : {"num_experts", "num_local_experts", "n_routed_experts"})
    for (const Value* part : {&config, text})
      if (const Value* experts = part ? part->find(key) : nullptr; experts && !experts->is_null()) return true;
  return false;
}

/// As far as it is known.
Load known_load(const Spec& spec, const Value& config, Recorder& recorder) {
  if (!is_by_device_map(spec.load)) return spec.load;
  const std::optional<Release> release = release_of(spec.transformers);
  if ((!release || release->major >= 5) && !has_experts(config)) return spec.load;
  recorder.assume(
      "weights get to the card as Module.to moves them: what from_pretrained(device_map=...) leaves behind of experts, "
      "which it lays together while others come, and before transformers 5, is not known");
  return Load::to;
}

/// The model where the program has it before it wraps it.  The result: its parameters, where they are made in parts.
}  // namespace

std::shared_ptr<ParameterStore> load_model(Run& run, Module& root, const Spec& spec, const Value& model_config,
                                           Recorder& recorder) {
  const std::string& model_type = model_type_of(model_config);
  const Setting<bool> on_host(run.on_host, spec.load == Load::wrapped);
  const bool whole_on_card = spec.load != Load::wrapped && spec.parallel != Parallel::zero3;
  if (!whole_on_card) check_weights(root);
  if (is_made_in_parts(spec)) {
    std::shared_ptr<ParameterStore> parts = load_in_parts(run, root, spec, model_config);
    freeze(root, spec, recorder);
    if (spec.lora) add_lora(run, root, lora_options(spec, root, model_type, recorder));
    return parts;
  }
  if (spec.quantization) quantize_modules(root, quantization_options(*spec.quantization));
  // The Trainer leaves a model, adapters and all, to DeepSpeed's engine, which casts it on the host and moves it.
  // transformers: trainer.py (5.17.0), place_model_on_device; deepspeed/runtime/engine.py, _configure_distributed_model
  const bool by_engine = spec.lora && !spec.quantization && is_zero(spec.parallel) && runs_as_trainer(spec);
  const bool adapted_on_host = by_engine || spec.load == Load::adapted;
  if (adapted_on_host) add_lora_on_host(root, lora_options(spec, root, model_type, recorder, by_engine));
  {
    const std::shared_ptr<const ModuleHooks> loaded_by = before_load(root, spec);
    to_device(run, root, known_load(spec, model_config, recorder));
  }
  if (adapted_on_host) return nullptr;
  freeze(root, spec, recorder);
  if (spec.quantization && spec.quantization->prepare) prepare_for_kbit_training(run, root);
  if (!spec.lora) return nullptr;
  add_lora(run, root, lora_options(spec, root, model_type, recorder));
  if (!whole_on_card) check_weights(root);
  return nullptr;
}

StepOptions step_options(const Spec& spec) {
  constexpr ZeroGradPlace kPlaces[] = {ZeroGradPlace::after_step, ZeroGradPlace::before_forward,
                                       ZeroGradPlace::before_backward};
  static_assert(std::size(kPlaces) == kZeroGradNames.size());
  return {.loop = runs_as_trainer(spec) ? LoopKind::trainer : LoopKind::plain,
          .processes = spec.gpus,
          .steps = spec.steps,
          .grad_accumulation = spec.grad_accumulation,
          .max_grad_norm = spec.max_grad_norm,
          .zero_grad = kPlaces[static_cast<int>(spec.zero_grad)],
          .set_to_none = spec.set_to_none,
          .autocast = spec.autocast != Autocast::none,
          .grad_scaler = spec.grad_scaler,
          .autocast_dtype = spec.autocast == Autocast::fp16 ? Dtype::f16 : Dtype::bf16,
          .pixel_dtype = dtype_of(spec.dtype)};
}

std::optional<Dtype> divided_items_of(const Spec& spec) {
  constexpr Release kWithoutRemainder{5, 19}, kWithFraction{5, 23};
  const std::optional<Release> release = release_of(spec.transformers);
  if (!release || *release < kWithoutRemainder) return std::nullopt;
  return *release < kWithFraction ? Dtype::int64 : Dtype::f32;
}

Dtype dtype_of(WeightDtype dtype) {
  constexpr Dtype kDtypes[] = {Dtype::bf16, Dtype::f16, Dtype::f32};
  return kDtypes[static_cast<int>(dtype)];
}

Context context_of(const Spec& spec, const Value& config) {
  // Models that checkpoint use no cache, whatever they are told (5.17.0: utils/generic.py, merge_with_config_defaults).
  const bool checkpoints = spec.checkpointing != Checkpointing::none;
  // TrainingArguments.use_cache is false and goes into the model's configuration (5.17.0: trainer.py,
  // Trainer.__init__), but not into that of its text, where the model has one, which its language model looks at.
  const bool is_told = spec.loop == LoopKind::trainer && !config.find("text_config");
  const bool is_passed = is_of_trl(spec.loop);  // with each call
  const bool is_off = spec.use_cache == UseCache::no || is_passed || (spec.use_cache == UseCache::automatic && is_told);
  return {.attention = spec.attn == Attention::eager ? AttentionKind::eager : AttentionKind::sdpa,
          .checkpointing = static_cast<CheckpointKind>(spec.checkpointing),
          .checkpoint_every = spec.checkpoint_every,
          .checkpoint_layers = layers_of(spec.checkpoint_layers),
          .checkpoint_save = spec.checkpoint_save.empty()
                                 ? nullptr
                                 : std::make_shared<const std::vector<std::string>>(spec.checkpoint_save),
          .checkpoint_save_layers = layers_of(spec.checkpoint_save_layers),
          .use_cache = !checkpoints && !is_off,
          .padding = spec.padding,
          .experts = static_cast<ExpertsKind>(spec.experts_implementation),
          .routing_skew = parse_routing(spec.moe_routing)};
}

namespace {

/// Of a pipeline the first stage alone is given them.
std::int64_t images_here(const Spec& spec) { return spec.pp && place_of(spec).stage != 0 ? 0 : spec.images; }

/// Samples that a model is given at once: of a pipeline those of a micro-batch.
std::int64_t samples_at_once(const Spec& spec) {
  const bool in_parts = spec.pp && spec.images > 0;
  return in_parts ? std::max<std::int64_t>(spec.batch / spec.pp->microbatches, 1) : samples_of_pass(spec);
}

}  // namespace

Dtype computed_dtype_of(const Spec& spec) {
  return spec.quantization && spec.quantization->prepare ? Dtype::f32 : dtype_of(spec.dtype);
}

std::string autocast_of(const Spec& spec) {
  if (spec.autocast == Autocast::none) return "false";
  return step_options(spec).autocast_dtype == computed_dtype_of(spec) ? "own" : "other";
}

FamilyUse family_use_of(const Spec& spec, const Value& config) {
  const ImageSize size = parse_image_size(spec.image_size);
  return {context_of(spec, config),
          spec.attn == Attention::automatic,
          spec.generate > 0 ? prompt_tokens(spec, config) : spec.seq,
          samples_at_once(spec),
          images_here(spec),
          size.height,
          size.width,
          head_of(spec),
          autocast_of(spec),
          spec.checkpointing != Checkpointing::none,
          spec.cp ? spec.cp->degree : 1,
          spec.transformers,
          spec.loop == LoopKind::reward_trainer,
          spec.target_seq,
          spec.audio_seconds};
}

Data data_of(const Spec& spec) {
  const ImageSize size = parse_image_size(spec.image_size);
  return {samples_of_pass(spec),
          spec.seq,
          images_here(spec),
          size.height,
          size.width,
          images_here(spec) == spec.images ? spec.image_tokens : std::nullopt,
          spec.labels && spec.generate == 0,
          spec.target_seq,
          spec.audio_seconds};
}

Error no_program_of(const std::string& model_type, std::span<const std::string> names) {
  std::vector<std::string> known;
  for (const std::string& name : names) {
    const std::string_view file = std::string_view(name).substr(name.find('/') + 1);
    known.emplace_back(file.substr(0, file.find('.')));
  }
  return Error(Errc::unsupported, fmt::format("no model type {} here", Value(model_type).quoted()),
               "config.json: model_type", did_you_mean(model_type, known) + " (`tidemark models` lists them)");
}

std::vector<std::string> program_names(const std::string& model_type, const std::string& head,
                                       const Value& model_config) {
  constexpr std::string_view kClassifies = "sequence_classification", kContrasts = "contrastive";
  const Value* said = model_config.find("architectures");
  const Value::List* classes = said ? said->as_list() : nullptr;
  const auto is_named = [&](std::string_view ending) {
    return head == "auto" && classes && std::any_of(classes->begin(), classes->end(), [&](const Value& name) {
             return name.as_text() && name.as_text()->ends_with(ending);
           });
  };
  if (is_of_generation(head)) return {fmt::format("{}.generation", model_type)};
  if (head == kClassifies || is_named("ForSequenceClassification"))
    return {fmt::format("{}.{}", model_type, kClassifies), model_type};
  if (head == kContrasts ||
      (head == "auto" && !is_named("ForImageClassification")))  // CLIP and what is like it, if nobody says more
    return {fmt::format("{}.{}", model_type, kContrasts), model_type};
  return {model_type};
}

std::vector<std::string> programs_that_may_answer(const Spec& spec, const Value& model_config,
                                                  std::span<const std::string> names) {
  const std::string& type = model_type_of(model_config);
  std::vector<std::string> all;
  for (const std::string& wanted : program_names(type, head_of(spec), model_config)) {
    std::map<Release, std::string> found;
    std::set<Release> having;
    for (const std::string& name : names) {
      const std::size_t slash = name.find('/');
      const auto release = release_of(name.substr(0, slash));
      if (!release || name.substr(slash + 1) != wanted) continue;
      having.insert(*release);
      found.emplace(*release, name);
    }
    const auto first = nearest_release(having, release_of(spec.transformers));
    while (const auto nearest = nearest_release(having, release_of(spec.transformers))) {
      if (nearest->major < first->major) break;  // what a newer one refuses, one from before a break does not know
      const std::string& name = found.at(*nearest);
      all.push_back(name);
      having.erase(*nearest);
    }
    if (!all.empty() && wanted.ends_with(".contrastive")) break;  // what tells images apart is another training
  }
  return all;
}

const std::string& model_type_of(const Value& model_config) {
  const Value* type = model_config.find("model_type");
  if (!type || !type->as_text())
    throw Error(Errc::bad_value, "it does not say which model it is", "config.json: model_type");
  return *type->as_text();
}

namespace {

/// Whether SFTTrainer adds to the loss for the balance of experts: where the configuration has output_router_logits.
/// trl: trainer/sft_trainer.py (1.16.0), aux_loss_enabled; transformers: models/*/configuration_*.py (5.17.0; 5.23.0
/// has it in all)
bool has_balancing_loss(const Spec& spec, const Value& config) {
  constexpr std::string_view kWithout[] = {"deepseek_v2", "deepseek_v3", "dots1", "glm4_moe"};
  const std::optional<Release> release = release_of(spec.transformers);
  const bool may_be_without = release && *release <= Release{5, 17};
  return has_experts(config) &&
         !(may_be_without && std::ranges::find(kWithout, model_type_of(config)) != std::end(kWithout));
}

/// Whether it is known what TRL's own head and loss take.
bool knows_fused_head(const Model& model, const Spec& spec, const Value& config) {
  // Beside adapters FSDP 2's head is a group of its own, whose parts are gathered: not known of the host.
  const bool gathers_on_host = spec.lora && spec.fsdp2 && spec.fsdp2->offload_policy == Offload::cpu;
  return !has_balancing_loss(spec, config) && !gathers_on_host && model.fused_forward;
}

/// The loop as far as it is known.
LoopKind known_loop(const Model& model, const Spec& spec, const Value& config, Recorder& recorder) {
  if (!runs_as_trainer(spec)) return LoopKind::plain;
  if (!has_fused_head(spec.loop)) return spec.loop;
  if (knows_fused_head(model, spec, config)) {
    if (spec.loop != LoopKind::grpo_trainer)
      recorder.assume("every token is trained on: TRL's head leaves out those that are not (-100), as prompts");
    return spec.loop;
  }
  if (has_reference(spec.loop) || spec.loop == LoopKind::grpo_trainer)
    throw Error(Errc::unsupported,
                has_balancing_loss(spec, config) ? "the loss for the balance of experts is not modelled in this loop"
                                                 : "the model's program does not say what comes before its head",
                "loop", "run the program itself with tidemark run");
  recorder.assume_first(
      "the loss holds the logits whole, which TRL takes in tiles of 4,096 tokens and 32,768 words, and nothing is added to it for the "
      "balance of experts: an upper bound, but for vocabularies of a few thousand words");
  return LoopKind::trainer;
}

/// Lengths of prompts and completions; the rollout itself is not simulated.
GrpoOptions completions_of(const Spec& spec, std::int64_t tokens, Recorder& recorder) {
  const GrpoOptions grpo = grpo_options_of(spec, tokens);
  recorder.assume_first(
      "completions come from elsewhere: the memory of a rollout by generate(), and of weights on their way to vLLM, is not counted");
  recorder.assume_first(fmt::format("a sample has a prompt of {} tokens and a completion of {}, {} of each prompt",
                                    tokens - grpo.completion_tokens, grpo.completion_tokens, grpo.num_generations));
  return grpo;
}

}  // namespace

void run_program(Run& run, const std::vector<std::unique_ptr<Model>>& models, const Spec& spec,
                 const Value& model_config, StepOptions options, Recorder& recorder) {
  Model& model = *models.front();
  BatchSizes sizes = model.batch_sizes(data_of(spec));
  Model* const reference = has_second_model(spec) ? models.back().get() : nullptr;
  for (const std::string& assumption : sizes.first_assumptions) recorder.assume_first(assumption);
  for (const std::string& assumption : sizes.assumptions) recorder.assume(assumption);
  if (spec.loop == LoopKind::reward_trainer) sizes.labels.reset();
  if (takes_pairs(spec.loop))
    recorder.assume_first(
        fmt::format("a batch is {} pairs of a chosen and a rejected sample, all of one length", spec.batch));
  if (spec.loop == LoopKind::kto_trainer)
    recorder.assume("one half of the samples of a batch, or one more, is desirable");
  if (spec.method != Method::none)
    recorder.assume_first(fmt::format("method {} sets {}", kMethodNames[static_cast<std::size_t>(spec.method)],
                                      text_of_method(spec.method, is_alone(spec))));
  const Assume assume = [&](std::string assumption) { recorder.assume(std::move(assumption)); };
  options.loop = known_loop(model, spec, model_config, recorder);
  if (options.loop == LoopKind::grpo_trainer) options.grpo = completions_of(spec, sizes.input_ids.value()[1], recorder);
  if (spec.pp) {
    const Stages stages = load_stages(run, models, spec, model_type_of(model_config), sizes, recorder);
    recorder.assume(fmt::format("the model is cut into stages of {} layers, where nn.Identity stands for the rest",
                                fmt::join(stages.layers, ", ")));
    options.hooks = with_pipeline(run, models, stages, spec, model_config, assume);
  } else {
    std::shared_ptr<ParameterStore> parts = load_model(run, model.root, spec, model_config, recorder);
    // Its weights ask for gradients, so autocast keeps what it casts.  trl: trainer/dpo_trainer.py, __init__ (1.16.0)
    if (reference) to_device(run, reference->root, known_load(spec, model_config, recorder));
    if (!is_made_in_parts(spec)) recorder.count_trained(elements_of(trainable_parameters(model.root)));
    // Trainer._inner_training_loop begins with Accelerator.free_memory (transformers 5.17.0, accelerate 1.15.0).
    if (runs_as_trainer(spec)) run.empty_cache();
    if (asks_gradients_of_embeddings(spec) && sizes.input_ids) enable_input_require_grads(model.root);
    options.hooks = parallelize(run, model.root, spec, model_config, assume, std::move(parts));
    split_tokens(run, model, spec, sizes, options.hooks, assume);
    if (runs_as_trainer(spec) && !options.hooks.is_engine) group_by_decay(model.root, options.hooks);
  }
  if (spec.loop != LoopKind::plain && !runs_as_trainer(spec))
    recorder.assume_first(
        "under this strategy, or these options of it, the Trainer's loop is taken for a plain one with the same settings");
  // By Tensor.record_stream; validation/parallel has every order of events.
  if (spec.parallel == Parallel::fsdp1 || spec.parallel == Parallel::zero3)
    recorder.assume(
        "work on other streams is over when memory is asked for; the interval also has it over only when "
        "the program waits for it");
  else if (spec.pp || spec.tp || spec.cp || spec.parallel != Parallel::none)
    recorder.assume("work on other streams has completed when it matters: no block waits for a collective");
  if (spec.parallel == Parallel::ddp)
    recorder.assume(
        "a step takes longer than the 100 ms between two looks of NCCL's watchdog, until which DDP's first buckets live on "
        "(torch before 2.15)");
  recorder.end_phase(0, Phase::load);
  run.take_from_device(taken_by(communicators_of(spec), run.card()) + engine_bytes(spec, run.card()));
  Optimizer optimizer = make_optimizer(model.root, spec, options.hooks.optimizer_parameters);
  optimizer.group_sizes = options.hooks.group_sizes;
  optimizer.gradient_placements = options.hooks.gradient_placements;
  if (runs_as_trainer(spec) && is_of_bitsandbytes(spec.optimizer))
    keep_32bit_states_of_embeddings(model.root, optimizer);
  check_scaler(optimizer, spec);
  const auto observer = [&](std::int64_t step, StepPhase phase) {
    recorder.end_phase(step, phase_of({step, static_cast<int>(phase)}));
  };
  try {
    train(run, model, reference, sizes, optimizer, options, observer);
  } catch (const TensorMismatch&) {
    if (!spec.tp) throw;
    throw Error(
        Errc::bad_value, "under this plan a module is given tensors that do not go together", "tp.plan",
        "what one module splits the next must take split: colwise, then rowwise; tokens by all modules in between");
  }
  check_layers(run, spec);
  check_kept(run, spec);
  run.end();
}

Phase phase_of(const Stage& stage) {
  constexpr Phase kPhases[] = {Phase::forward, Phase::backward, Phase::optimizer, Phase::prefill, Phase::decode};
  return stage.step == 0 ? Phase::load : kPhases[stage.part];
}

}  // namespace tidemark
