// torchtitan's TOML: torchtitan/config/job_config.py (0.2.2), and what train.py and models/llama3 make of it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "io/training_write.h"
#include "io/value_toml.h"

namespace tidemark::io::training_format_torchtitan {
namespace {

constexpr std::string_view kTitle = "torchtitan";

/// models/llama3/__init__.py, llama3_args; the width of FeedForward as model/model.py makes it.
struct Flavor {
  std::string_view name;
  std::int64_t hidden_size, intermediate_size, layers, heads, kv_heads, vocab_size;
};
constexpr std::array kFlavors{
    Flavor{"debugmodel", 256, 768, 6, 16, 16, 2048}, Flavor{"8B", 4096, 14336, 32, 32, 8, 128256},
    Flavor{"70B", 8192, 28672, 80, 64, 8, 128256}, Flavor{"405B", 16384, 53248, 126, 128, 8, 128256}};

Value config_of(const Flavor& flavor, std::int64_t seq) {
  return Value::Map{{"model_type", "llama"},
                    {"architectures", Value::List{"LlamaForCausalLM"}},
                    {"hidden_size", flavor.hidden_size},
                    {"intermediate_size", flavor.intermediate_size},
                    {"num_hidden_layers", flavor.layers},
                    {"num_attention_heads", flavor.heads},
                    {"num_key_value_heads", flavor.kv_heads},
                    {"vocab_size", flavor.vocab_size},
                    {"max_position_embeddings", seq},
                    {"rms_norm_eps", 1e-5},
                    {"tie_word_embeddings", false}};
}

std::int64_t size_of_config(const Value& config, std::string_view key, std::int64_t otherwise = 0) {
  const Value* found = config.find(key);
  return found && found->as_integer() ? *found->as_integer() : otherwise;
}

const Flavor* flavor_of(const Value& config) {
  const Value *type = config.find("model_type"), *tied = config.find("tie_word_embeddings");
  if (!type || !type->as_text() || *type->as_text() != "llama" || (tied && *tied == Value(true))) return nullptr;
  const std::int64_t heads = size_of_config(config, "num_attention_heads");
  for (const Flavor& flavor : kFlavors)
    if (size_of_config(config, "hidden_size") == flavor.hidden_size &&
        size_of_config(config, "intermediate_size") == flavor.intermediate_size &&
        size_of_config(config, "num_hidden_layers") == flavor.layers && heads == flavor.heads &&
        size_of_config(config, "num_key_value_heads", heads) == flavor.kv_heads &&
        size_of_config(config, "vocab_size") == flavor.vocab_size)
      return &flavor;
  return nullptr;
}

void read_model(TrainingKeys model, TrainingDraft& draft) {
  model.must_be_off({"converters"});
  const std::string name = model.text("name").value_or("llama3"), flavor = model.text("flavor").value_or("debugmodel");
  const std::string assets = model.text("hf_assets_path").value_or("");
  model.pass_over({"tokenizer_path", "print_after_conversion"});
  draft.note_unread(model, "model");
  draft.assume(
      "the model is the one of transformers with the same sizes: torchtitan's own has other operations for norms and rotary embeddings, and took less where they were compared");
  if (draft.files.has_model) return;
  if (name != "llama3") {
    if (assets.empty())
      model.refuse_now("name", "its sizes are not known here",
                       "name its config.json: tidemark predict CONFIG --trainer FILE");
    draft.model = assets;
    draft.assume("the model is that of config.json in hf_assets_path, whatever the flavor");
    return;
  }
  for (const Flavor& known : kFlavors)
    if (known.name == flavor) draft.config = config_of(known, draft.spec.seq);
  if (!draft.config)
    model.refuse_now("flavor", fmt::format("{} is not predicted", Value(flavor).quoted()),
                     "debugmodel, 8B, 70B and 405B are");
}

WeightDtype read_weights(TrainingKeys& keys, std::string_view key, std::string_view initial) {
  const std::string name = keys.text(key).value_or(std::string(initial));
  if (name == "float32") return WeightDtype::fp32;
  if (name != "bfloat16") keys.refuse_now(key);
  return WeightDtype::bf16;
}

/// Pieces of the world; distributed/parallel_dims.py
struct Degrees {
  std::int64_t copies, shards, context;
};

Degrees read_degrees(TrainingKeys& keys, TrainingDraft& draft) {
  keys.must_be("tensor_parallel_degree", {"1"});    // tp is known of weights that come on the card whole
  keys.must_be("pipeline_parallel_degree", {"1"});  // its stages have as many layers as torchtitan decides
  keys.must_be("expert_parallel_degree", {"1"});
  keys.must_be("expert_tensor_parallel_degree", {"1"});
  Degrees degrees{.copies = keys.integer("data_parallel_replicate_degree").value_or(1),
                  .shards = keys.integer("data_parallel_shard_degree").value_or(-1),
                  .context = keys.integer("context_parallel_degree").value_or(1)};
  if (std::min(degrees.copies, degrees.context) < 1 || degrees.shards == 0)
    keys.refuse_now("data_parallel_shard_degree", "a degree is 1 or more");
  const std::int64_t rest = degrees.copies * degrees.context;
  std::int64_t world = draft.files.gpus;
  if (world == 0) {
    world = rest * std::max<std::int64_t>(degrees.shards, 1);
    if (degrees.shards < 0) draft.assume(fmt::format("the file does not say on how many GPUs: {} (--gpus N)", world));
  }
  if (degrees.shards < 0) degrees.shards = std::max<std::int64_t>(world / rest, 1);
  if (degrees.shards * rest != world)
    keys.refuse_now("data_parallel_shard_degree",
                    fmt::format("the degrees are of {} GPUs, and there are {}", degrees.shards * rest, world),
                    "leave it at -1, for what is left");
  draft.spec.gpus = world;
  return degrees;
}

void read_fully_shard(TrainingKeys& keys, const Degrees& degrees, WeightDtype computed, Spec& spec) {
  spec.parallel = Parallel::fsdp2;
  spec.load = Load::wrapped;
  spec.fsdp2 = Fsdp2Spec{};
  spec.fsdp2->param_dtype = computed == WeightDtype::bf16 ? PolicyDtype::bf16 : PolicyDtype::fp32;
  spec.fsdp2->reduce_dtype = PolicyDtype::fp32;
  if (degrees.copies > 1) spec.fsdp2->data_parallel_replicate_degree = degrees.copies;
  const std::string reshard = keys.text("fsdp_reshard_after_forward").value_or("default");
  if (reshard != "default") spec.fsdp2->reshard_after_forward = reshard == "always" ? "true" : "false";
}

/// models/llama3/infra/parallelize.py
void read_parallelism(TrainingKeys keys, WeightDtype computed, TrainingDraft& draft) {
  Spec& spec = draft.spec;
  const Degrees degrees = read_degrees(keys, draft);
  if (degrees.context > 1) {
    spec.cp = CpSpec{};
    spec.cp->degree = degrees.context;
    if (keys.text("context_parallel_rotate_method").value_or("allgather") == "alltoall")
      spec.cp->rotate_method = RotateMethod::alltoall;
    keys.must_be("context_parallel_load_balancer", {"headtail"});
  }
  // distributed/utils.py, maybe_enable_amp
  const bool is_sharded = degrees.shards > 1 || degrees.context > 1;
  if (is_sharded) {
    read_fully_shard(keys, degrees, computed, spec);
    draft.assume(
        "fully_shard has a group for each layer and one for the rest: torchtitan's embedding and head have groups of their own");
  } else if (computed == WeightDtype::bf16 && spec.dtype == WeightDtype::fp32) {
    spec.autocast = Autocast::bf16;
  }
  if (!is_sharded && degrees.copies > 1) {
    spec.parallel = Parallel::ddp;
    spec.ddp = DdpSpec{};
    spec.ddp->bucket_cap_mb = 100;
  }
  keys.must_be_off({"module_fqns_per_model_part"});
  keys.pass_over({"fsdp_reshard_after_forward", "context_parallel_*", "pipeline_parallel_*", "expert_parallel_*",
                  "enable_async_tensor_parallel", "disable_loss_parallel"});
  draft.note_unread(keys, "parallelism");
}

std::int64_t layers_of(TrainingDraft& draft) {
  const Value& config = draft.model_config();
  const Value* part = config.find("text_config");
  return size_of_config(part ? *part : config, "num_hidden_layers");
}

/// distributed/activation_checkpoint.py
void read_activation_checkpoint(TrainingKeys keys, TrainingDraft& draft) {
  Spec& spec = draft.spec;
  const std::string mode = keys.text("mode").value_or("selective");
  if (mode != "none" && mode != "full" && mode != "selective") keys.refuse_now("mode");
  if (mode != "none") spec.checkpointing = Checkpointing::non_reentrant;
  const Value* option = keys.find("selective_ac_option");
  const auto every = option ? lenient_integer(*option) : std::optional<std::int64_t>(2);
  if (mode == "selective") {
    if (!every || *every < 0)
      keys.refuse_now("selective_ac_option", "which results are kept of every second product is not predicted",
                      "an integer, of which each n-th layer is checkpointed, is");
    for (std::int64_t layer = *every - 1; *every > 1 && layer < layers_of(draft); layer += *every)
      spec.checkpoint_layers.push_back(fmt::format("{}", layer));
    if (*every > 1 && spec.checkpoint_layers.empty()) spec.checkpointing = Checkpointing::none;
  }
  if (spec.checkpointing != Checkpointing::none && !keys.boolean("early_stop").value_or(false))
    draft.assume("what runs again stops when all is there (early_stop = true), as torch does by itself");
  keys.pass_over({"early_stop", "memory_budget", "visualize_*", "preserve_rng_state", "determinism_check", "debug",
                  "per_op_sac_*"});
  draft.note_unread(keys, "activation_checkpoint");
}

void read_optimizer(TrainingKeys keys, TrainingDraft& draft) {
  const std::string name = keys.text("name").value_or("AdamW"), how = keys.text("implementation").value_or("fused");
  if (name != "AdamW" && name != "Adam") keys.refuse_now("name");
  if (how != "fused" && how != "foreach" && how != "for-loop") keys.refuse_now("implementation");
  draft.spec.optimizer = name == "AdamW" ? OptimizerName::adamw : OptimizerName::adam;
  draft.spec.optimizer_impl = how == "fused"     ? OptimizerImpl::fused
                              : how == "foreach" ? OptimizerImpl::foreach
                                                 : OptimizerImpl::loop;
  draft.spec.weight_decay = keys.real("weight_decay").value_or(0.1);
  keys.must_be_off({"early_step_in_backward"});
  keys.pass_over({"lr", "beta1", "beta2", "eps"});
  draft.note_unread(keys, "optimizer");
}

/// train.py: gradients are zeroed in front of the step's first pass, and always clipped.
WeightDtype read_step(TrainingKeys& training, TrainingDraft& draft) {
  Spec& spec = draft.spec;
  spec.batch = training.integer("local_batch_size").value_or(8);
  draft.take_length("seq_len", training.integer("seq_len").value_or(2048));
  spec.max_grad_norm = training.real("max_norm").value_or(1);
  spec.zero_grad = ZeroGrad::before_forward;
  spec.use_cache = UseCache::no;
  spec.dtype = read_weights(training, "dtype", "float32");
  training.must_be("mixed_precision_reduce", {"float32"});
  return read_weights(training, "mixed_precision_param", "bfloat16");
}

void read_accumulation(TrainingKeys& training, Spec& spec) {
  const std::int64_t each = spec.batch * (spec.gpus / (spec.cp ? spec.cp->degree : 1)),
                     whole = training.integer("global_batch_size").value_or(-1);
  if (whole >= 0 && (each < 1 || whole < each || whole % each != 0))
    training.refuse_now("global_batch_size",
                        fmt::format("{} is no multiple of the {} samples of a pass on all GPUs", whole, each));
  spec.grad_accumulation = whole < 0 ? 1 : whole / each;
}

void read(TrainingKeys& keys, TrainingDraft& draft) {
  TrainingKeys training = keys.map("training");
  const WeightDtype computed = read_step(training, draft);
  read_model(keys.map("model"), draft);
  read_parallelism(keys.map("parallelism"), computed, draft);
  read_accumulation(training, draft.spec);
  read_activation_checkpoint(keys.map("activation_checkpoint"), draft);
  read_optimizer(keys.map("optimizer"), draft);
  const bool offloads = training.boolean("enable_cpu_offload").value_or(false);
  if (offloads && draft.spec.fsdp2) draft.spec.fsdp2->offload_policy = Offload::cpu;
  if (offloads && !draft.spec.fsdp2)
    training.refuse_now("enable_cpu_offload", "the weights of what is not sharded would be moved by hand");
  training.pass_over({"dataset*", "steps", "gc_*", "dataloader"});
  draft.note_unread(training, "training");
  for (const char* section : {"compile", "validation", "fault_tolerance", "memory_estimation"})
    keys.map(section).must_be_off({"enable"});
  keys.map("checkpoint").must_be_off({"create_seed_checkpoint"});
  keys.pass_over({"job", "profiling", "metrics", "lr_scheduler", "comm", "quantize", "experimental", "debug"});
  draft.assume("torchtitan releases the logits in front of the backward pass, and they are held here");
}

Value parallelism_of(const Spec& spec) {
  const Fsdp2Spec fsdp = spec.fsdp2.value_or(Fsdp2Spec{});
  const bool shards = spec.parallel == Parallel::fsdp2;
  const std::int64_t context = spec.cp ? spec.cp->degree : 1, rest = spec.gpus / context;
  const std::int64_t copies = shards ? fsdp.data_parallel_replicate_degree.value_or(1) : rest;
  Value keys = Value::Map{{"data_parallel_replicate_degree", copies},
                          {"data_parallel_shard_degree", rest / copies},
                          {"context_parallel_degree", context}};
  if (shards && fsdp.reshard_after_forward != "auto")
    keys.set("fsdp_reshard_after_forward", fsdp.reshard_after_forward == "true" ? "always" : "never");
  if (spec.cp)
    keys.set("context_parallel_rotate_method",
             spec.cp->rotate_method == RotateMethod::alltoall ? "alltoall" : "allgather");
  return keys;
}

Value training_of(const Spec& spec) {
  const Fsdp2Spec fsdp = spec.fsdp2.value_or(Fsdp2Spec{});
  const bool is_mixed = spec.autocast == Autocast::bf16 || fsdp.param_dtype == PolicyDtype::bf16;
  const std::int64_t split = spec.cp ? spec.cp->degree : 1;
  Value keys =
      Value::Map{{"local_batch_size", spec.batch},
                 {"global_batch_size", spec.batch * spec.grad_accumulation * (spec.gpus / split)},
                 {"seq_len", spec.seq},
                 {"dtype", name_of_dtype(spec.dtype)},
                 {"mixed_precision_param", is_mixed || spec.dtype == WeightDtype::bf16 ? "bfloat16" : "float32"}};
  if (spec.max_grad_norm) keys.set("max_norm", *spec.max_grad_norm);
  if (fsdp.offload_policy == Offload::cpu) keys.set("enable_cpu_offload", true);
  return keys;
}

/// Each n-th layer from the n-th on, as torchtitan counts; 0: not so.
std::int64_t every_of(const Spec& spec) {
  if (spec.checkpoint_layers.empty()) return spec.checkpoint_every == 1 ? 1 : 0;
  const auto first = lenient_integer(Value(spec.checkpoint_layers.front()));
  return first ? *first + 1 : 0;
}

Value activation_checkpoint_of(const Spec& spec) {
  if (spec.checkpointing == Checkpointing::none) return Value::Map{{"mode", "none"}};
  const std::int64_t every = every_of(spec);
  if (every == 0) refuse_to_write(kTitle, "checkpoint_every", "it checkpoints the n-th layer of n, not the first");
  if (every == 1) return Value::Map{{"mode", "full"}, {"early_stop", true}};
  return Value::Map{{"mode", "selective"}, {"selective_ac_option", fmt::format("{}", every)}, {"early_stop", true}};
}

std::vector<WrittenFile> write(const TrainingAnswer& answer, const std::string& path) {
  const Spec& spec = answer.spec;
  const Flavor* flavor = flavor_of(answer.model_config);
  if (!flavor) refuse_to_write(kTitle, "model", "its llama3 has no flavor of these sizes");
  if (spec.pp) refuse_to_write(kTitle, "pp", "its stages have as many layers as it decides");
  if (spec.tp) refuse_to_write(kTitle, "tp", "its weights come on the card as shards, of which tp is not known");
  Value model = Value::Map{{"name", "llama3"}, {"flavor", flavor->name}};
  if (!answer.model.empty()) model.set("hf_assets_path", answer.model);
  const bool is_loop = spec.optimizer_impl == OptimizerImpl::loop,
             is_fused = spec.optimizer_impl == OptimizerImpl::fused;
  Value optimizer = Value::Map{{"name", spec.optimizer == OptimizerName::adam ? "Adam" : "AdamW"},
                               {"implementation", is_fused  ? "fused"
                                                  : is_loop ? "for-loop"
                                                            : "foreach"}};
  if (spec.weight_decay) optimizer.set("weight_decay", *spec.weight_decay);
  const Value keys = Value::Map{{"model", std::move(model)},
                                {"optimizer", std::move(optimizer)},
                                {"training", training_of(spec)},
                                {"parallelism", parallelism_of(spec)},
                                {"activation_checkpoint", activation_checkpoint_of(spec)}};
  const std::string start = fmt::format("torchrun --nproc_per_node {} -m torchtitan.train --job.config_file {}\n",
                                        spec.gpus_per_node > 0 ? spec.gpus_per_node : spec.gpus, path);
  return {{path, as_comment(heading_of(answer, kTitle) + start) + value_to_toml(keys)}};
}

}  // namespace

TrainingFormat format() {
  return {.name = "torchtitan",
          .title = kTitle,
          .version = "0.2.2",
          .signs = {"training", "parallelism", "activation_checkpoint", "lr_scheduler", "job", "profiling", "metrics",
                    "comm", "quantize"},
          .loop = LoopKind::plain,
          .begins_as = Value::Map{{"activation_checkpoint", Value::Map{{"mode", "none"}}}},
          .read = read,
          .write = write};
}

}  // namespace tidemark::io::training_format_torchtitan
