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
  static void fields(LoraSpec& self, const FieldVisitor& visit);
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
  static void fields(QuantizationSpec& self, const FieldVisitor& visit);
};

struct Spec {
  Value model;              // a path to config.json or the folder that holds it, or the configuration itself as a map
  Value generation_config;  // the same of generation_config.json
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
  static void fields(Spec& self, const FieldVisitor& visit);
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

}  // namespace tidemark
