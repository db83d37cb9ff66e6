// torchtune's YAML: recipes/configs and recipes/{full_finetune,lora_finetune}_{single_device,distributed}.py (0.6.1).
#include <fmt/format.h>

#include "io/training_arguments.h"
#include "io/training_optimizers.h"
#include "io/training_quantization.h"

namespace tidemark::io::training_format_torchtune {
namespace {

std::string component_of(TrainingKeys& keys) {
  const std::string path = keys.text("_component_").value_or("");
  return path.substr(path.rfind('.') + 1);
}

/// The names that transformers has for torchtune's modules.
std::vector<std::string> targets_of(TrainingKeys& model) {
  std::vector<std::string> targets;
  for (const std::string& name : model.list("lora_attn_modules"))
    targets.push_back(name == "output_proj" ? "o_proj" : name);
  if (model.boolean("apply_lora_to_mlp").value_or(false))
    targets.insert(targets.end(), {"gate_proj", "up_proj", "down_proj"});
  if (model.boolean("apply_lora_to_output").value_or(false)) targets.emplace_back("lm_head");
  return targets;
}

void read_model(TrainingKeys model, TrainingDraft& draft) {
  const std::string name = component_of(model);
  const bool is_qlora = name.starts_with("qlora_");
  if (name.starts_with("lora_") || is_qlora) {
    const auto rank = model.integer("lora_rank").value_or(8);
    set_lora(draft, rank, model.real("lora_alpha").value_or(16), model.real("lora_dropout").value_or(0),
             targets_of(model));
    draft.spec.lora->adapter_dtype = AdapterDtype::bf16;  // of the recipe's dtype, as all weights
  }
  model.must_be_off({"use_dora"}, Takes::less);
  if (is_qlora || model.boolean("quantize_base").value_or(false)) {
    model.refuse("_component_", "torchao's NF4 is not predicted", {"bitsandbytes' nf4", Takes::either});
    set_quantization(
        model, "_component_",
        {.quant_type = QuantType::nf4, .use_double_quant = true, .compute_dtype = draft.spec.dtype, .skip_modules = {}},
        draft);
  }
  draft.note_unread(model, "model");
  draft.assume("the model is the one of transformers with the same sizes: torchtune's own has other operations");
}

void read_optimizer(TrainingKeys optimizer, TrainingDraft& draft) {
  Spec& spec = draft.spec;
  const std::string name = optimizer.text("_component_").value_or("torch.optim.AdamW");
  const auto known = trainer_optimizer(name);
  if (!known || known->nearest)
    optimizer.refuse("_component_", fmt::format("the states of {} are not predicted", name),
                     {"torch.optim.AdamW", known ? known->nearest->takes : Takes::either});
  else
    spec.optimizer = known->optimizer;
  if (optimizer.boolean("fused").value_or(false)) spec.optimizer_impl = OptimizerImpl::fused;
  set_weight_decay(spec, optimizer.real("weight_decay").value_or(0));
  optimizer.pass_over({"lr", "betas", "eps", "weight_decay", "fused"});
  draft.note_unread(optimizer, "optimizer");
}

void read_methods(TrainingKeys& keys) {
  TrainingKeys loss = keys.map("loss");
  const std::string name = component_of(loss);
  if (name != "CrossEntropyLoss")
    loss.refuse("_component_", fmt::format("{}, which takes logits in chunks, is not predicted", name),
                {"torch.nn.CrossEntropyLoss", Takes::more});
  loss.pass_over({"*"});
  keys.must_be_off({"enable_activation_offloading", "optimizer_in_bwd", "optimizer_cpu_offload"}, Takes::more);
  keys.must_be_off({"compile"}, Takes::either);
  keys.must_be("tensor_parallel_dim", {"1"}, Takes::more);
  keys.must_be("data_parallel_replicate_dim", {"1"}, Takes::either);
}

/// training/_distributed.py, shard_model: fully_shard of each layer and of the model, without a policy.
void share_work(TrainingKeys& keys, TrainingDraft& draft) {
  Spec& spec = draft.spec;
  const bool offloads = keys.boolean("fsdp_cpu_offload").value_or(false);
  keys.pass_over({"custom_sharded_layers", "fsdp_sharding_strategy", "fsdp_reshard_after_forward"});
  spec.gpus = std::max<std::int64_t>(draft.files.gpus, 1);
  spec.gpus_per_node = draft.files.gpus_per_node;
  if (draft.files.gpus == 0) draft.assume("the file does not say on how many GPUs: one (--gpus N)");
  if (spec.gpus == 1) return;
  spec.parallel = Parallel::fsdp2;
  spec.load = Load::wrapped;
  spec.fsdp2 = Fsdp2Spec{};
  if (offloads) spec.fsdp2->offload_policy = Offload::cpu;
}

void read(TrainingKeys& keys, TrainingDraft& draft) {
  Spec& spec = draft.spec;
  TrainingKeys checkpointer = keys.map("checkpointer"), tokenizer = keys.map("tokenizer"), data = keys.map("dataset");
  draft.model = checkpointer.text("checkpoint_dir").value_or("");
  spec.batch = keys.integer("batch_size").value_or(1);
  spec.grad_accumulation = keys.integer("gradient_accumulation_steps").value_or(1);
  spec.dtype = weight_dtype(keys.text("dtype").value_or("bf16")).value_or(WeightDtype::bf16);
  if (const auto norm = keys.real("clip_grad_norm")) spec.max_grad_norm = *norm;
  if (keys.boolean("enable_activation_checkpointing").value_or(false))
    spec.checkpointing = Checkpointing::non_reentrant;
  spec.use_cache = UseCache::no;
  read_model(keys.map("model"), draft);
  read_optimizer(keys.map("optimizer"), draft);
  read_methods(keys);
  if (data.boolean("packed").value_or(false))
    data.refuse("packed", "packed samples attend by a mask that is not predicted", {"False", Takes::either});
  draft.take_length("max_seq_len", tokenizer.integer("max_seq_len").value_or(0));
  share_work(keys, draft);
  keys.pass_over({"output_dir",
                  "seed",
                  "shuffle",
                  "epochs",
                  "max_steps_per_epoch",
                  "resume_from_checkpoint",
                  "lr_scheduler",
                  "metric_logger",
                  "log_*",
                  "device",
                  "profiler",
                  "save_*",
                  "low_cpu_ram",
                  "batch_size_val",
                  "dataset_val",
                  "run_val_every_n_steps",
                  "cudnn_deterministic_mode",
                  "ac_mode",
                  "ac_option",
                  "enable_async_checkpointing"});
}

}  // namespace

TrainingFormat format() {
  return {.name = "torchtune",
          .title = "torchtune",
          .version = "0.6.1",
          .signs = {"checkpointer", "tokenizer", "metric_logger", "enable_activation_checkpointing",
                    "max_steps_per_epoch", "log_peak_memory_stats", "profiler"},
          .loop = LoopKind::plain,
          .read = read};
}

}  // namespace tidemark::io::training_format_torchtune
