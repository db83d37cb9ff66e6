// What Hugging Face's Trainer, and every trainer made of it, takes: transformers.TrainingArguments (5.17.0), and what
// shares the work among GPUs: DeepSpeed's JSON, accelerate's YAML.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "io/training_config.h"

namespace tidemark::io {

/// As read; the members begin with TrainingArguments' own defaults, and a project that has others changes them first.
struct TrainingArguments {
  std::int64_t batch = 8, accumulation = 1;
  bool bf16 = false, fp16 = false;
  std::string_view optim_key = "optim";     // what the project calls it
  std::string optim = "adamw_torch_fused";  // with torch 2.8 and later: training_args.py, default_optim
  double weight_decay = 0, max_grad_norm = 1;
  bool checkpointing = false;
  bool reentrant = false;  // modeling_utils.py, gradient_checkpointing_enable
  std::int64_t checkpoint_every = 1;
  std::optional<Value> deepspeed, fsdp, fsdp_config;
  std::optional<bool> find_unused_parameters;
  std::int64_t processes = 0;  // that accelerate's file or the launch starts; 0: neither says

  bool half() const { return bf16 || fp16; }
};

/// Takes TrainingArguments' keys: those that decide memory are read or refused, the rest is passed over.
void read_training_arguments(TrainingKeys& keys, TrainingArguments& arguments, TrainingDraft& draft);

/// gradient_checkpointing_kwargs, which is activation_checkpointing_kwargs too since 5.23.0.
void read_checkpointing_kwargs(TrainingKeys how, TrainingArguments& arguments);

/// A step of transformers' Trainer in the draft: batches, precision, optimizer, clipping, checkpointing, and how GPUs
/// share it.  To be called when the weights' type is known, which ZeRO overrides.
void apply_training_arguments(TrainingKeys& keys, const TrainingArguments& arguments, TrainingDraft& draft);

/// "bf16", "bfloat16", "torch.bfloat16"; nothing for a type that weights are not trained in.
std::optional<WeightDtype> weight_dtype(std::string_view name);

/// The type that config.json says the weights have, which from_pretrained takes where none is asked for: fp32 where it
/// says none.
WeightDtype dtype_of_config(TrainingDraft& draft);

/// "sdpa", "eager", "flash_attention_2", "flash_attn", "fa2": SDPA's flash kernel stands for FlashAttention.
void read_attention(TrainingKeys& keys, std::string_view key, TrainingDraft& draft);

/// `packing`, `padding_free`: rows that hold several samples without padding.  To be called after read_attention.
void read_packing(TrainingKeys& keys, std::string_view key, TrainingDraft& draft);

/// The spec's own way to say it: an adapter on modules of these names; none: PEFT's choice.
void set_lora(TrainingDraft& draft, std::int64_t r, double alpha, double dropout, TextOrList targets);

/// `use_dora`, where the trainer makes adapters.  To be called after apply_training_arguments.
void read_dora(TrainingKeys& keys, std::string_view key, TrainingDraft& draft);

// Of apply_training_arguments.
void read_deepspeed(const Value& config, const std::string& where, const TrainingArguments& arguments,
                    TrainingDraft& draft);
/// What accelerate's file says where the trainer's says nothing.
void read_accelerate(const Value& config, TrainingArguments& arguments, const std::string& where, TrainingDraft& draft);
/// Keys without "fsdp_" in front, which accelerate's file has and TrainingArguments may have.
Value without_fsdp_prefix(const Value& map);
void read_fsdp(TrainingKeys& config, const TrainingArguments& arguments, TrainingDraft& draft);

/// As several trainers load a model of which every GPU has the whole: by from_pretrained(device_map={"": device}).
Spec loaded_onto_its_device(Spec spec);

}  // namespace tidemark::io
