// What is asked: one model, one way of training it, one card.  The names of the fields are the keys of a spec file and,
// with dashes for underscores, the options of `tidemark predict`.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "estimate/gemini_spec.h"
#include "estimate/grpo_spec.h"
#include "estimate/method.h"
#include "train/loop_kind.h"

namespace tidemark {

// The names of each enum's values, in its order.
inline constexpr std::array<std::string_view, 3> kWeightDtypeNames{"bf16", "fp16", "fp32"};
enum class WeightDtype { bf16, fp16, fp32 };
inline constexpr std::array<std::string_view, 3> kAutocastNames{"none", "bf16", "fp16"};
enum class Autocast { none, bf16, fp16 };
inline constexpr std::array<std::string_view, 3> kAttentionNames{"auto", "sdpa", "eager"};
enum class Attention { automatic, sdpa, eager };
inline constexpr std::array<std::string_view, 3> kExpertsNames{"grouped_mm", "batched_mm", "eager"};
enum class ExpertsImplementation { grouped_mm, batched_mm, eager };
// torch.optim's, then bitsandbytes' and transformers' own, as `optim` of TrainingArguments names them
inline constexpr std::array<std::string_view, 14> kOptimizerNames{"adamw",
                                                                  "adam",
                                                                  "sgd",
                                                                  "adafactor",
                                                                  "rmsprop",
                                                                  "adagrad",
                                                                  "adamw_8bit",
                                                                  "paged_adamw_8bit",
                                                                  "paged_adamw_32bit",
                                                                  "lion_8bit",
                                                                  "lion_32bit",
                                                                  "paged_lion_8bit",
                                                                  "paged_lion_32bit",
                                                                  "transformers_adafactor"};
enum class OptimizerName {
  adamw,
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
  transformers_adafactor
};
constexpr bool is_of_torch(OptimizerName name) { return name <= OptimizerName::adagrad; }
constexpr bool is_of_bitsandbytes(OptimizerName name) {
  return !is_of_torch(name) && name != OptimizerName::transformers_adafactor;
}
inline constexpr std::array<std::string_view, 4> kOptimizerImplNames{"auto", "foreach", "fused", "loop"};
enum class OptimizerImpl { automatic, foreach, fused, loop };
inline constexpr std::array<std::string_view, 3> kZeroGradNames{"after_step", "before_forward", "before_backward"};
enum class ZeroGrad { after_step, before_forward, before_backward };
inline constexpr std::array<std::string_view, 3> kCheckpointingNames{"none", "non_reentrant", "reentrant"};
enum class Checkpointing { none, non_reentrant, reentrant };
inline constexpr std::array<std::string_view, 3> kUseCacheNames{"auto", "true", "false"};
enum class UseCache { automatic, yes, no };
inline constexpr std::array<std::string_view, 4> kAdapterDtypeNames{"auto", "fp32", "bf16", "fp16"};
enum class AdapterDtype { automatic, fp32, bf16, fp16 };
inline constexpr std::array<std::string_view, 1> kLoraBiasNames{"none"};
enum class LoraBias { none };
inline constexpr std::array<std::string_view, 2> kQuantTypeNames{"nf4", "fp4"};
enum class QuantType { nf4, fp4 };
inline constexpr std::array<std::string_view, 4> kQuantStorageNames{"uint8", "bf16", "fp16", "fp32"};
enum class QuantStorage { uint8, bf16, fp16, fp32 };
inline constexpr std::array<std::string_view, 5> kLoadNames{"to", "adapted", "wrapped", "device_map", "device"};
enum class Load { to, adapted, wrapped, device_map, device };
inline constexpr std::array<std::string_view, 7> kLoopNames{
    "plain", "trainer", "sft_trainer", "dpo_trainer", "kto_trainer", "reward_trainer", "grpo_trainer"};

struct LoraSpec {
  std::int64_t r = 8;
  double alpha = 8, dropout = 0;
  bool use_dora = false;
  TextOrList target_modules;  // empty text: PEFT's own choice for the model
  AdapterDtype adapter_dtype = AdapterDtype::automatic;
  LoraBias bias = LoraBias::none;

  bool operator==(const LoraSpec&) const = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit);
};

/// transformers: BitsAndBytesConfig, of 4 bits unless it says 8.
struct QuantizationSpec {
  bool load_in_8bit = false;
  double threshold = 6;
  QuantType quant_type = QuantType::fp4;
  bool use_double_quant = false;
  WeightDtype compute_dtype = WeightDtype::fp32;
  QuantStorage quant_storage = QuantStorage::uint8;
  std::optional<std::vector<std::string>> skip_modules;
  bool prepare = false;

  bool operator==(const QuantizationSpec&) const = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit);
};

struct Spec {
  Value model;  // a path to config.json or the folder that holds it, or the configuration itself as a map
  std::string head = "auto";

  std::int64_t batch = 1, seq = 0, images = 0;
  std::string image_size = "0";
  std::optional<std::int64_t> image_tokens;
  std::int64_t target_seq = 0, generate = 0;
  double audio_seconds = 0;
  bool padding = false, labels = true;
  std::string moe_routing = "balanced";

  WeightDtype dtype = WeightDtype::bf16;
  Autocast autocast = Autocast::none;
  bool grad_scaler = false, input_require_grads = false;
  Attention attn = Attention::automatic;
  ExpertsImplementation experts_implementation = ExpertsImplementation::grouped_mm;
  UseCache use_cache = UseCache::automatic;

  OptimizerName optimizer = OptimizerName::adamw;
  OptimizerImpl optimizer_impl = OptimizerImpl::automatic;
  std::optional<double> weight_decay;  // none: the optimizer's own default
  double momentum = 0;
  bool amsgrad = false, maximize = false, nesterov = false, centered = false;

  Method method = Method::none;
  LoopKind loop = LoopKind::plain;
  std::int64_t grad_accumulation = 1;
  std::optional<double> max_grad_norm;
  ZeroGrad zero_grad = ZeroGrad::after_step;
  bool set_to_none = true;
  Checkpointing checkpointing = Checkpointing::none;
  std::int64_t checkpoint_every = 1;
  std::vector<std::string> checkpoint_layers, checkpoint_save, checkpoint_save_layers;
  std::int64_t steps = 3;

  std::vector<std::string> freeze, train_only;
  bool lenient_names = false;  // of the two and of adapters; no field: a trainer's file said them
  std::optional<LoraSpec> lora;
  std::optional<QuantizationSpec> quantization;
  std::optional<GrpoSpec> grpo;

  std::int64_t gpus = 1;
  Parallel parallel = Parallel::none;
  std::int64_t rank = 0, gpus_per_node = 0;
  LinkKind link = LinkKind::automatic;
  std::optional<DdpSpec> ddp;
  std::optional<ZeroSpec> zero;
  std::optional<TpSpec> tp;
  std::optional<CpSpec> cp;
  std::optional<EpSpec> ep;
  std::optional<Fsdp1Spec> fsdp1;
  std::optional<Fsdp2Spec> fsdp2;
  std::optional<GeminiSpec> gemini;
  std::optional<PipelineSpec> pp;

  std::string torch, transformers;  // empty: the newest that are known
  std::string gpu, memory, allocator;
  bool windows = false;
  Load load = Load::to;

  bool operator==(const Spec&) const = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit);

 private:
  template <class Self, class Visit>
  static void fields_of_model_and_data(Self& self, Visit&& visit);
  template <class Self, class Visit>
  static void fields_of_checkpointing(Self& self, Visit&& visit);
  template <class Self, class Visit>
  static void fields_of_training(Self& self, Visit&& visit);
};

/// Whether it is a training on one GPU, with no strategy around the model.
bool is_alone(const Spec& spec);
/// Whether each GPU runs the whole model, by itself or as one of ddp's.
bool runs_whole_model(const Spec& spec);
/// Whether the Trainer's loop is known under the strategy: with wrappers of other libraries it is another.
bool runs_as_trainer(const Spec& spec);

/// Samples that a pass takes on each GPU: of pairs two each.
std::int64_t samples_of_pass(const Spec& spec);
/// The head that is asked for, or the loop's.
std::string head_of(const Spec& spec);
/// Whether a second model stands beside the one that trains: without adapters to leave out, the reference.
bool has_second_model(const Spec& spec);
/// Default of num_generations: 8, or the largest smaller number that divides `samples`.
std::int64_t usual_num_generations(std::int64_t samples);
/// Options of GRPOTrainer for samples of `tokens` tokens.
GrpoOptions grpo_options_of(const Spec& spec, std::int64_t tokens);

/// Of each node.
std::int64_t ranks_per_node(const Spec& spec);

/// Height and width; 0 and 0 for the model's own.
struct ImageSize {
  std::int64_t height = 0, width = 0;
  bool operator==(const ImageSize&) const = default;
};

/// Reads "336" (a square) or "1080x1920" (height x width).  Throws Error{bad_value}.
ImageSize parse_image_size(std::string_view text);

/// Reads "balanced" or "skewed:X", with X the share of tokens (0 to 1) that choose the first experts: X.  Throws
/// Error{bad_value}.
double parse_routing(std::string_view text);

/// GPUs that share one copy of the model by tp, pp and cp.
std::int64_t ranks_of_one_copy(const Spec& spec);

/// Keys of `spec` that differ from `from`, nested as in a spec file.
Value changes_of(const Spec& from, const Spec& spec);

/// What fits no single field: options of another optimizer, more image tokens than tokens, products that are too large.
/// Throws Error{bad_value} naming the field.  Reading a spec through read_spec() has done it already.
void check_spec(const Spec& spec, const std::string& where = {});

/// Throws Error{bad_value} or Error{unknown_name}.  `where` names the file in messages.
Spec read_spec(const Value& value, const std::string& where = {});

template <class Self, class Visit>
void LoraSpec::fields(Self& self, Visit&& visit) {
  const std::string_view group = "LoRA";
  visit("r", self.r, FieldInfo{.help = "Rank", .placeholder = "N", .group = group, .low = 1, .high = 65536});
  visit("alpha", self.alpha,
        FieldInfo{.help = "lora_alpha", .placeholder = "X", .group = group, .low = 0, .high = 1e9});
  visit("dropout", self.dropout,
        FieldInfo{.help = "lora_dropout", .placeholder = "P", .group = group, .low = 0, .high = 0.999});
  visit("use_dora", self.use_dora,
        FieldInfo{.help = "use_dora: a vector of magnitudes beside each adapter (DoRA)", .group = group});
  visit(
      "target_modules", self.target_modules,
      FieldInfo{
          .help =
              "Names of modules, a pattern for their whole names, or all-linear (default: PEFT's choice for the model)",
          .placeholder = "NAMES|PATTERN",
          .group = group});
  visit(
      "adapter_dtype", self.adapter_dtype,
      FieldInfo{.help = "Type of the adapters' weights; auto is fp32 beside half-precision weights, as PEFT makes them",
                .group = group,
                .names = kAdapterDtypeNames});
  visit("bias", self.bias, FieldInfo{.help = "Biases that are trained", .group = group, .names = kLoraBiasNames});
}

template <class Self, class Visit>
void QuantizationSpec::fields(Self& self, Visit&& visit) {
  const std::string_view group = "Quantization";
  visit("load_in_8bit", self.load_in_8bit,
        FieldInfo{.help = "load_in_8bit: weights in 8 bits, in the place of 4", .group = group});
  visit(
      "threshold", self.threshold,
      FieldInfo{
          .help =
              "llm_int8_threshold: activations in 8 bits are compared with it, and none is taken to reach it; 0: they are not",
          .placeholder = "X",
          .group = group,
          .low = 0,
          .high = 1e9});
  visit("quant_type", self.quant_type,
        FieldInfo{.help = "bnb_4bit_quant_type; both take as much memory", .group = group, .names = kQuantTypeNames});
  visit("use_double_quant", self.use_double_quant,
        FieldInfo{.help = "bnb_4bit_use_double_quant: the scales of blocks are quantized too", .group = group});
  visit("compute_dtype", self.compute_dtype,
        FieldInfo{.help = "bnb_4bit_compute_dtype", .group = group, .names = kWeightDtypeNames});
  visit("quant_storage", self.quant_storage,
        FieldInfo{.help = "bnb_4bit_quant_storage: the type that packed weights are kept as",
                  .group = group,
                  .names = kQuantStorageNames});
  visit(
      "skip_modules", self.skip_modules,
      FieldInfo{
          .help =
              "llm_int8_skip_modules: modules that stay as they are, by the beginning, a pattern for it, or the end of "
              "their names (default: output embeddings, what is tied to others, and the last module)",
          .placeholder = "NAMES",
          .group = group});
  visit(
      "prepare", self.prepare,
      FieldInfo{.help = "PEFT's prepare_model_for_kbit_training: what is not quantized becomes fp32", .group = group});
}

template <class Self, class Visit>
void Spec::fields(Self& self, Visit&& visit) {
  fields_of_model_and_data(self, visit);
  fields_of_training(self, visit);
}

template <class Self, class Visit>
void Spec::fields_of_model_and_data(Self& self, Visit&& visit) {
  using namespace spec_detail;
  std::string_view group = "Model";
  visit("model", self.model,
        text(group, "config.json, the folder that holds it, a name on the hub, or the configuration itself", "CONFIG"));
  visit("head", self.head,
        text(group, "What the model is trained for, such as causal_lm (auto: what config.json says)", "NAME"));
  visit("dtype", self.dtype, choice(group, "Type of the weights", kWeightDtypeNames));
  visit("attn", self.attn,
        choice(group, "Implementation of attention (auto: sdpa where transformers has it for the model)",
               kAttentionNames));
  visit("experts_implementation", self.experts_implementation,
        choice(group, "Implementation of experts, of models that have them", kExpertsNames));
  visit("use_cache", self.use_cache,
        choice(group, "Whether the forward pass fills a key/value cache (auto: as transformers does)", kUseCacheNames));
  visit(
      "freeze", self.freeze,
      text(group,
           "Parameters that are not trained: those with one of these texts in their name (a,b or given twice); a whole "
           "feature encoder as freeze_feature_encoder() does it",
           "TEXTS"));
  visit("train_only", self.train_only,
        text(group, "Parameters that are trained, all others not; freeze comes after it", "TEXTS"));
  visit(
      "input_require_grads", self.input_require_grads,
      text(group, "What embeddings give asks for gradients without checkpointing, too: enable_input_require_grads()"));
  visit(
      "load", self.load,
      choice(
          group,
          "How weights get onto the card: built on the CPU, then by Module.to, in front of adapters or with those that "
          "are made there (adapted), or by the wrapper for many GPUs (fsdp1, fsdp2, gemini); or by from_pretrained: "
          "with device_map=\"auto\", on one GPU, or device_map={\"\": device}, which says where (device)",
          kLoadNames));

  group = "Data";
  visit("batch", self.batch,
        whole(group, "Samples per forward and backward pass, of each GPU, pipeline of GPUs, or GPUs that share tokens",
              1, 1 << 20));
  visit(
      "seq", self.seq,
      whole(
          group,
          "Tokens per sample, those of images included; of raw audio, its samples (0: 2048, or what the model takes if that is less)",
          0, 1 << 24));
  visit("target_seq", self.target_seq,
        whole(group, "Tokens per label of an encoder-decoder model (0: as many as seq)", 0, 1 << 24));
  visit("generate", self.generate,
        whole(group, "New tokens per sample by generate(); no training, and seq is the prompt", 0, 1 << 20));
  visit("audio_seconds", self.audio_seconds,
        FieldInfo{.help = "Seconds of audio per sample, at 16 kHz (0: 10 of raw audio)",
                  .placeholder = "X",
                  .group = group,
                  .low = 0,
                  .high = 1000});
  visit("images", self.images, whole(group, "Images per sample", 0, 1 << 16));
  visit("image_size", self.image_size,
        FieldInfo{.help = "Pixels: 336 or 1080x1920, height first (0: the model's own)",
                  .placeholder = "SIZE",
                  .group = group,
                  .number_is_text = true});
  visit("image_tokens", self.image_tokens,
        whole(group, "Tokens per image, where they are known better than from its size", 1, 1 << 24));
  visit("padding", self.padding, text(group, "Batches hold padding, so the attention mask is built"));
  visit("moe_routing", self.moe_routing, text(group, "How tokens spread over experts: balanced or skewed:X", "HOW"));
  visit("labels", self.labels,
        FieldInfo{.help = "The model gets labels and computes the loss itself",
                  .group = group,
                  .negated = "The model gets no labels; the loop computes the loss from the output"});
}

template <class Self, class Visit>
void Spec::fields_of_checkpointing(Self& self, Visit&& visit) {
  using namespace spec_detail;
  const std::string_view group = "Training";
  const auto layers = [group](std::string_view help) {
    return FieldInfo{.help = help, .placeholder = "LAYERS", .group = group, .number_is_text = true};
  };
  visit("checkpointing", self.checkpointing,
        choice(group, "Gradient checkpointing of the model's layers", kCheckpointingNames));
  visit("checkpoint_every", self.checkpoint_every, whole(group, "Checkpoint each n-th layer alone", 1, 1 << 16));
  visit("checkpoint_layers", self.checkpoint_layers,
        layers("Checkpoint these layers alone: numbers and ranges, such as 0-3,7, counted over the whole model"));
  visit("checkpoint_save", self.checkpoint_save,
        text(group,
             "Operators of torch whose results a checkpointed layer keeps, without namespace and overload, such as "
             "mm,_scaled_dot_product_flash_attention (create_selective_checkpoint_contexts with MUST_SAVE)",
             "NAMES"));
  visit("checkpoint_save_layers", self.checkpoint_save_layers,
        layers("Checkpointed layers that keep these results, as checkpoint_layers says them (default: all)"));
}

template <class Self, class Visit>
void Spec::fields_of_training(Self& self, Visit&& visit) {
  using namespace spec_detail;
  std::string_view group = "Training";
  visit("method", self.method,
        choice(group, "A method of fine-tuning and its trainer: defaults of the other fields", kMethodNames));
  visit("loop", self.loop,
        choice(group, "Loop: plain PyTorch, transformers' Trainer, or a trainer of TRL", kLoopNames));
  visit("autocast", self.autocast, choice(group, "torch.autocast around forward and loss", kAutocastNames));
  visit("grad_scaler", self.grad_scaler, text(group, "torch.amp.GradScaler scales the loss"));
  visit("grad_accumulation", self.grad_accumulation,
        whole(group, "Forward and backward passes per optimizer step", 1, 1 << 16));
  visit("max_grad_norm", self.max_grad_norm,
        FieldInfo{.help = "Clip gradients to this norm (default: no clipping)",
                  .placeholder = "X",
                  .group = group,
                  .low = 0,
                  .high = 1e30});
  visit("zero_grad", self.zero_grad, choice(group, "Where the loop calls zero_grad", kZeroGradNames));
  visit("set_to_none", self.set_to_none,
        FieldInfo{.help = "zero_grad frees gradients instead of filling them with zeros",
                  .group = group,
                  .negated = "zero_grad fills gradients with zeros instead of freeing them"});
  fields_of_checkpointing(self, visit);
  visit("steps", self.steps,
        whole(group, "Optimizer steps; states appear in the first, and from the third on nothing is new", 1, 1000));

  group = "Optimizer";
  visit("optimizer", self.optimizer, choice(group, "Optimizer", kOptimizerNames));
  visit("optimizer_impl", self.optimizer_impl,
        choice(group, "Its implementation (auto: as torch chooses)", kOptimizerImplNames));
  visit("weight_decay", self.weight_decay,
        FieldInfo{.help = "Weight decay (default: the optimizer's own)",
                  .placeholder = "X",
                  .group = group,
                  .low = 0,
                  .high = 1e9});
  visit("momentum", self.momentum,
        FieldInfo{.help = "Of sgd and rmsprop", .placeholder = "X", .group = group, .low = 0, .high = 1});
  visit("amsgrad", self.amsgrad, text(group, "Of adam and adamw"));
  visit("nesterov", self.nesterov, text(group, "Of sgd, with momentum"));
  visit("centered", self.centered, text(group, "Of rmsprop"));
  visit("maximize", self.maximize, text(group, "Climb instead of descend"));

  visit("grpo", self.grpo, text("Reinforcement learning", "Options of GRPOTrainer; {} for its defaults"));
  visit("lora", self.lora, text("LoRA", "Adapters of PEFT on a frozen model; {} for its defaults"));
  visit("quantization", self.quantization,
        text("Quantization",
             "Linear modules in 4 or 8 bits, by bitsandbytes; {} for 4 bits with the defaults of BitsAndBytesConfig"));

  group = "Many GPUs";
  visit("gpus", self.gpus, whole(group, "GPUs that train together", 1, 1 << 16));
  visit("parallel", self.parallel, choice(group, "How they share the work", kParallelNames));
  visit("rank", self.rank, whole(group, "The one whose memory is meant", 0, (1 << 16) - 1));
  visit("gpus_per_node", self.gpus_per_node, whole(group, "GPUs of one node (0: all of them)", 0, 1 << 16));
  visit("link", self.link,
        choice(group, "What joins the GPUs of a node, for NCCL's buffers (auto: what the card has)", kLinkNames));
  visit("ddp", self.ddp, text(group, "DistributedDataParallel's options; {} for its defaults"));
  visit("zero", self.zero, text(group, "DeepSpeed's options for ZeRO; {} for its defaults"));
  visit("tp", self.tp, text(group, "Tensor parallelism by torch's parallelize_module"));
  visit("cp", self.cp, text(group, "Context parallelism: ring attention by torch's context_parallel"));
  visit("ep", self.ep, text(group, "Expert parallelism of transformers; {} for all GPUs"));
  visit("fsdp1", self.fsdp1, text(group, "FullyShardedDataParallel's options; {} for its defaults"));
  visit("fsdp2", self.fsdp2, text(group, "fully_shard's options; {} for its defaults"));
  visit("gemini", self.gemini, text(group, "GeminiPlugin's options; {} for its defaults"));
  visit("pp", self.pp, text(group, "Layers in stages by torch.distributed.pipelining"));

  group = "Card";
  visit("gpu", self.gpu,
        text(group, "The card: a name (see `tidemark gpus`) or a file that describes one", "NAME|FILE"));
  visit("memory", self.memory, text(group, "Another memory size for the card, such as 400GB or 80GiB", "SIZE"));
  visit("windows", self.windows, text(group, "A Windows driver: beyond the card it goes on in host memory"));
  visit("allocator", self.allocator, text(group, "Settings of PyTorch's allocator (PYTORCH_CUDA_ALLOC_CONF)", "CONF"));
  visit("torch", self.torch,
        text(group, "Version of PyTorch to follow (default: the active environment's, else the newest that is known)",
             "VERSION"));
  visit("transformers", self.transformers,
        text(group, "Version of transformers to follow (default: likewise)", "VERSION"));
}

}  // namespace tidemark
