// A plain PyTorch program: the loop that a spec stands for, which others can read and change.  It is written alone.
#include <fmt/format.h>

#include <array>

#include "estimate/layer_set.h"
#include "io/training_write.h"
#include "io/value_json.h"
#include "plan/plan.h"

namespace tidemark::io::training_format_python {
namespace {

constexpr std::string_view kTitle = "a plain PyTorch program";

/// What the program can say; the rest must be as in a new spec.
Spec sayable(const Spec& spec) {
  Spec plain;
  plain.model = spec.model;
  plain.batch = spec.batch, plain.seq = spec.seq;
  plain.dtype = spec.dtype, plain.autocast = spec.autocast, plain.grad_scaler = spec.grad_scaler;
  plain.attn = spec.attn, plain.use_cache = spec.use_cache;
  plain.optimizer = spec.optimizer, plain.optimizer_impl = spec.optimizer_impl;
  plain.weight_decay = spec.weight_decay, plain.momentum = spec.momentum;
  plain.amsgrad = spec.amsgrad, plain.nesterov = spec.nesterov, plain.centered = spec.centered,
  plain.maximize = spec.maximize;
  plain.grad_accumulation = spec.grad_accumulation, plain.max_grad_norm = spec.max_grad_norm;
  plain.checkpointing = spec.checkpointing, plain.checkpoint_every = spec.checkpoint_every;
  plain.checkpoint_layers = spec.checkpoint_layers;
  plain.checkpoint_save = spec.checkpoint_save, plain.checkpoint_save_layers = spec.checkpoint_save_layers;
  plain.input_require_grads = spec.input_require_grads;
  plain.freeze = spec.freeze, plain.train_only = spec.train_only, plain.lora = spec.lora;
  if (!is_zero(spec.parallel)) plain.quantization = spec.quantization;
  plain.gpus = spec.gpus, plain.gpus_per_node = spec.gpus_per_node, plain.link = spec.link;
  using enum Parallel;
  if (spec.parallel == none || spec.parallel == ddp || is_zero(spec.parallel)) plain.parallel = spec.parallel;
  if (plain.parallel == ddp) plain.ddp = spec.ddp;
  if (is_zero(plain.parallel)) plain.zero = spec.zero;
  if (plain.zero) plain.zero->init = ZeroInit::none;  // the program has its model before DeepSpeed's file
  plain.steps = spec.steps, plain.rank = spec.rank, plain.moe_routing = spec.moe_routing;
  plain.torch = spec.torch, plain.transformers = spec.transformers;
  plain.gpu = spec.gpu, plain.memory = spec.memory, plain.allocator = spec.allocator;
  return plain;
}

std::string quoted(const std::string& text) {
  std::string line = value_to_json_line(text);
  while (line.ends_with('\n')) line.pop_back();
  return line;
}

std::string list_of(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "" : ", ") + quoted(text);
  return "[" + list + "]";
}

std::string truth(bool value) { return value ? "True" : "False"; }

std::string frozen_text(const Spec& spec) {
  if (spec.freeze.empty() && spec.train_only.empty()) return {};
  std::string text = "for name, parameter in model.named_parameters():\n    trains = ";
  text += spec.train_only.empty() ? "True" : fmt::format("any(part in name for part in {})", list_of(spec.train_only));
  if (!spec.freeze.empty()) text += fmt::format(" and not any(part in name for part in {})", list_of(spec.freeze));
  return text + (spec.quantization ? "\n    parameter.requires_grad_(trains and parameter.is_floating_point())\n"
                                   : "\n    parameter.requires_grad_(trains)\n");
}

std::string_view name_of_adapter_dtype(AdapterDtype dtype) {
  if (dtype == AdapterDtype::bf16) return "bfloat16";
  return dtype == AdapterDtype::fp16 ? "float16" : "float32";
}

std::string lora_text(const LoraSpec& lora, bool is_quantized) {
  std::string targets;
  if (const auto* list = std::get_if<std::vector<std::string>>(&lora.target_modules))
    targets = ", target_modules=" + list_of(*list);
  else if (const auto& pattern = std::get<std::string>(lora.target_modules); !pattern.empty())
    targets = ", target_modules=" + quoted(pattern);
  const bool raises =
      is_quantized || lora.adapter_dtype == AdapterDtype::automatic || lora.adapter_dtype == AdapterDtype::fp32;
  std::string text =
      fmt::format("model = peft.get_peft_model(model, peft.LoraConfig(r={}, lora_alpha={}, lora_dropout={}{}{}){})\n",
                  lora.r, lora.alpha, lora.dropout, targets, lora.use_dora ? ", use_dora=True" : "",
                  raises ? "" : ", autocast_adapter_dtype=False");
  // PEFT makes them fp32 beside quantized weights; trainers cast them themselves (trl: trainer/sft_trainer.py, 1.16.0).
  if (is_quantized && lora.adapter_dtype != AdapterDtype::automatic)
    text += fmt::format(
        "for parameter in model.parameters():\n    if parameter.requires_grad:\n        parameter.data = parameter.data.to(torch.{})\n",
        name_of_adapter_dtype(lora.adapter_dtype));
  return text;
}

std::string quantization_text(const QuantizationSpec& quantization) {
  constexpr std::array<std::string_view, 4> kStorages{"uint8", "bfloat16", "float16", "float32"};
  std::string text =
      quantization.load_in_8bit
          ? fmt::format("packed = transformers.BitsAndBytesConfig(load_in_8bit=True, llm_int8_threshold={}",
                        quantization.threshold)
          : fmt::format(
                "packed = transformers.BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type=\"{}\", bnb_4bit_use_double_quant={}, "
                "bnb_4bit_compute_dtype=torch.{}, bnb_4bit_quant_storage=torch.{}",
                kQuantTypeNames[static_cast<std::size_t>(quantization.quant_type)],
                truth(quantization.use_double_quant), name_of_dtype(quantization.compute_dtype),
                kStorages[static_cast<std::size_t>(quantization.quant_storage)]);
  if (quantization.skip_modules) text += ", llm_int8_skip_modules=" + list_of(*quantization.skip_modules);
  return text + ")\n";
}

/// Of numbers and ranges, as Python's set.
std::string set_of_layers(const std::vector<std::string>& texts) {
  std::string numbers;
  for (const auto& [first, last] : parse_layers(texts))
    numbers += fmt::format("{}*range({}, {})", numbers.empty() ? "" : ", ", first, last + 1);
  return "{" + numbers + "}";
}

/// torch's selective checkpointing: what the operators give is kept, whatever their overload.
std::string kept_text(const Spec& spec) {
  if (spec.checkpoint_save.empty()) return {};
  return fmt::format(R"(KEPT = {{"aten::" + name for name in {}}}


def policy(context, operator, *args, **kwargs):
    schema = getattr(operator, "_schema", None)
    return checkpoints.CheckpointPolicy.MUST_SAVE if schema and schema.name in KEPT else checkpoints.CheckpointPolicy.PREFER_RECOMPUTE


)",
                     list_of(spec.checkpoint_save));
}

/// transformers.modeling_layers.GradientCheckpointingLayer
std::string chosen_layers_text(const Spec& spec) {
  if (spec.checkpoint_layers.empty() && spec.checkpoint_save_layers.empty()) return {};
  std::string text =
      "for number, layer in enumerate(module for module in model.modules() if isinstance(module, transformers.modeling_layers.GradientCheckpointingLayer)):\n";
  if (!spec.checkpoint_layers.empty())
    text += fmt::format("    layer.gradient_checkpointing = number in {}\n", set_of_layers(spec.checkpoint_layers));
  if (!spec.checkpoint_save_layers.empty())
    text += fmt::format(
        "    if number not in {}:\n        layer._gradient_checkpointing_func = functools.partial(checkpoints.checkpoint, use_reentrant=False)\n",
        set_of_layers(spec.checkpoint_save_layers));
  return text;
}

std::string checkpointing_text(const Spec& spec) {
  if (spec.checkpointing == Checkpointing::none) return {};
  const std::string keeps =
      spec.checkpoint_save.empty()
          ? ""
          : ", \"context_fn\": functools.partial(checkpoints.create_selective_checkpoint_contexts, policy)";
  return fmt::format(
             "model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={{\"use_reentrant\": {}{}}}{})\n",
             truth(spec.checkpointing == Checkpointing::reentrant), keeps,
             spec.checkpoint_every > 1 ? fmt::format(", every_n_layers={}", spec.checkpoint_every) : "") +
         chosen_layers_text(spec);
}

std::string model_text(const TrainingAnswer& answer) {
  const Spec& spec = answer.spec;
  const std::string attention =
      spec.attn == Attention::automatic
          ? ""
          : fmt::format(", attn_implementation=\"{}\"", spec.attn == Attention::eager ? "eager" : "sdpa");
  // Weights are packed while they are loaded, so quantized ones have to be there (transformers:
  // quantizers/quantizer_bnb_4bit.py).
  std::string text =
      spec.quantization
          ? quantization_text(*spec.quantization) +
                fmt::format(
                    "model = transformers.AutoModelForCausalLM.from_pretrained(MODEL, dtype=torch.{}{}, quantization_config=packed, device_map={{\"\": device}})\n",
                    name_of_dtype(spec.dtype), attention)
          : fmt::format(
                "# For trained weights: transformers.AutoModelForCausalLM.from_pretrained(MODEL, dtype=torch.{0}{1})\n"
                "model = transformers.AutoModelForCausalLM.from_config(transformers.AutoConfig.from_pretrained(MODEL), dtype=torch.{0}{1})\n"
                "model.to(device)\n",
                name_of_dtype(spec.dtype), attention);
  text += frozen_text(spec);
  if (spec.quantization && spec.quantization->prepare)
    text += "model = peft.prepare_model_for_kbit_training(model, use_gradient_checkpointing=False)\n";
  text += "model.train()\n";
  if (spec.lora) text += lora_text(*spec.lora, spec.quantization.has_value());
  if (spec.input_require_grads) text += "model.enable_input_require_grads()\n";
  const bool caches = spec.checkpointing == Checkpointing::none && spec.use_cache != UseCache::no;
  text += fmt::format("model.config.use_cache = {}\n", truth(caches));
  return text + checkpointing_text(spec);
}

std::string optimizer_text(const Spec& spec) {
  constexpr std::array<std::string_view, 14> kClasses{"torch.optim.AdamW",
                                                      "torch.optim.Adam",
                                                      "torch.optim.SGD",
                                                      "torch.optim.Adafactor",
                                                      "torch.optim.RMSprop",
                                                      "torch.optim.Adagrad",
                                                      "bitsandbytes.optim.AdamW8bit",
                                                      "bitsandbytes.optim.PagedAdamW8bit",
                                                      "bitsandbytes.optim.PagedAdamW32bit",
                                                      "bitsandbytes.optim.Lion8bit",
                                                      "bitsandbytes.optim.Lion32bit",
                                                      "bitsandbytes.optim.PagedLion8bit",
                                                      "bitsandbytes.optim.PagedLion32bit",
                                                      "transformers.Adafactor"};
  static_assert(kClasses.size() == kOptimizerNames.size());
  std::string options;
  const auto add = [&](bool is_said, std::string_view text) {
    if (is_said) options += ", " + std::string(text);
  };
  add(spec.optimizer_impl == OptimizerImpl::foreach, "foreach=True");
  add(spec.optimizer_impl == OptimizerImpl::fused, "fused=True");
  add(spec.optimizer_impl == OptimizerImpl::loop, "foreach=False");
  if (spec.weight_decay) options += fmt::format(", weight_decay={}", *spec.weight_decay);
  if (spec.momentum > 0) options += fmt::format(", momentum={}", spec.momentum);
  for (const auto& [name, value] : {std::pair{"amsgrad", spec.amsgrad}, std::pair{"nesterov", spec.nesterov},
                                    std::pair{"centered", spec.centered}, std::pair{"maximize", spec.maximize}})
    add(value, fmt::format("{}=True", name));
  add(spec.optimizer == OptimizerName::transformers_adafactor, "scale_parameter=False, relative_step=False");
  return fmt::format(
      "trainable = [parameter for parameter in model.parameters() if parameter.requires_grad]\n"
      "optimizer = {}(trainable, lr=1e-5{})\n",
      kClasses[static_cast<std::size_t>(spec.optimizer)], options);
}

/// DeepSpeed's documented loop: the engine scales, clips and frees gradients itself.
std::string deepspeed_text(const Spec& spec) {
  Value config = deepspeed_config(spec);
  Value plain = Value::Map{{"train_micro_batch_size_per_gpu", spec.batch},
                           {"gradient_accumulation_steps", spec.grad_accumulation},
                           {"gradient_clipping", spec.zero.value_or(ZeroSpec{}).gradient_clipping},
                           {"zero_force_ds_cpu_optimizer", false},
                           {"bf16", Value::Map{{"enabled", true}}},
                           {"zero_optimization", *config.find("zero_optimization")}};
  return fmt::format(
      "engine = deepspeed.initialize(model=model, optimizer=optimizer, config=json.loads('''{}'''))[0]\n\n"
      "for step in range(STEPS * ACCUMULATION):\n"
      "    loss = engine(**{{name: row.to(device) for name, row in next(batches).items()}}).loss\n"
      "    engine.backward(loss)\n"
      "    engine.step()\n",
      value_to_json(plain));
}

std::string ddp_text(const DdpSpec& ddp) {
  return fmt::format(
      "model = torch.nn.parallel.DistributedDataParallel(model, bucket_cap_mb={}, gradient_as_bucket_view={}, broadcast_buffers={}, "
      "find_unused_parameters={}, static_graph={})\n",
      ddp.bucket_cap_mb, truth(ddp.gradient_as_bucket_view), truth(ddp.broadcast_buffers),
      truth(ddp.find_unused_parameters), truth(ddp.static_graph));
}

std::string loop_text(const Spec& spec) {
  const bool no_sync = spec.ddp && spec.ddp->no_sync && spec.grad_accumulation > 1;
  std::string text = spec.grad_scaler ? "scaler = torch.amp.GradScaler(\"cuda\")\n" : "";
  text +=
      "\nfor step in range(STEPS):\n    for micro in range(ACCUMULATION):\n"
      "        batch = {name: row.to(device) for name, row in next(batches).items()}\n";
  std::string contexts;
  if (no_sync) contexts += "model.no_sync() if micro + 1 < ACCUMULATION else contextlib.nullcontext()";
  if (spec.autocast != Autocast::none)
    contexts += fmt::format("{}torch.autocast(\"cuda\", dtype=torch.{})", contexts.empty() ? "" : ", ",
                            spec.autocast == Autocast::bf16 ? "bfloat16" : "float16");
  const std::string forward = "loss = model(**batch).loss", indent = "        ";
  text += contexts.empty() ? indent + forward + "\n"
                           : indent + "with " + contexts + ":\n" + indent + "    " + forward + "\n";
  text += indent + (spec.grad_scaler ? "scaler.scale(loss).backward()\n" : "loss.backward()\n") + indent +
          "del loss, batch\n";
  if (spec.max_grad_norm) {
    if (spec.grad_scaler) text += "    scaler.unscale_(optimizer)\n";
    text += fmt::format("    torch.nn.utils.clip_grad_norm_(trainable, {})\n", *spec.max_grad_norm);
  }
  text += spec.grad_scaler ? "    scaler.step(optimizer)\n    scaler.update()\n" : "    optimizer.step()\n";
  return text + "    optimizer.zero_grad()\n";
}

std::string imports(const Spec& spec) {
  std::string text = spec.ddp && spec.ddp->no_sync ? "import contextlib\n" : "";
  const bool keeps = !spec.checkpoint_save.empty();
  if (keeps) text += "import functools\n";
  if (is_zero(spec.parallel)) text += "import json\n";
  text += "import os\n\n";
  if (!spec.allocator.empty())
    text += fmt::format("os.environ[\"PYTORCH_CUDA_ALLOC_CONF\"] = {}\n\n", quoted(spec.allocator));
  if (is_zero(spec.parallel)) text += "import deepspeed\n";
  if (is_of_bitsandbytes(spec.optimizer)) text += "import bitsandbytes\n";
  if (spec.lora) text += "import peft\n";
  return text + "import torch\n" + (keeps ? "import torch.utils.checkpoint as checkpoints\n" : "") +
         "import transformers\n\n";
}

std::string start_text(const Spec& spec) {
  std::string text =
      "device = torch.device(\"cuda\", int(os.environ.get(\"LOCAL_RANK\", 0)))\ntorch.cuda.set_device(device)\n";
  if (is_zero(spec.parallel)) return text + "deepspeed.init_distributed()\n";
  return spec.parallel == Parallel::ddp ? text + "torch.distributed.init_process_group(\"nccl\")\n" : text;
}

std::string data_text() {
  return "\n\ndef data():\n"
         "    \"\"\"Batches of random tokens, all of one size: put your own here.\"\"\"\n"
         "    while True:\n"
         "        tokens = torch.randint(0, model.config.get_text_config().vocab_size, (BATCH, SEQUENCE))\n"
         "        yield {\"input_ids\": tokens, \"attention_mask\": torch.ones_like(tokens), \"labels\": tokens.clone()}\n\n\n";
}

std::vector<WrittenFile> write(const TrainingAnswer& answer, const std::string& path) {
  const Spec& spec = answer.spec;
  if (spec.images > 0) refuse_to_write(kTitle, "images", "how a model takes its images is the model's own");
  const Value change = changes_of(sayable(spec), spec);
  if (!change.as_map()->empty())
    refuse_to_write(kTitle, change.as_map()->front().key, "it is not written in this program");
  if (spec.seq == 0) refuse_to_write(kTitle, "seq", "how long are samples?");
  std::string text = as_comment(heading_of(answer, kTitle));
  if (spec.gpus > 1)
    text += fmt::format("# torchrun --nproc_per_node {} {}\n", spec.gpus_per_node > 0 ? spec.gpus_per_node : spec.gpus,
                        path);
  text += imports(spec);
  text += fmt::format("MODEL = {}\nBATCH, SEQUENCE, ACCUMULATION, STEPS = {}, {}, {}, 100\n\n", quoted(answer.model),
                      spec.batch, spec.seq, spec.grad_accumulation);
  text += kept_text(spec) + start_text(spec) + model_text(answer) + data_text() + "batches = data()\n";
  if (spec.parallel == Parallel::ddp) text += "config = model.config\n" + ddp_text(spec.ddp.value_or(DdpSpec{}));
  text += optimizer_text(spec) + (is_zero(spec.parallel) ? deepspeed_text(spec) : loop_text(spec));
  if (spec.parallel == Parallel::ddp)
    text.replace(text.find("model.config.get_text_config()"), 30, "config.get_text_config()");
  return {{path, text}};
}

}  // namespace

TrainingFormat format() {
  return {.name = "python",
          .title = kTitle,
          .version = "torch 2.11.0",
          .signs = {},
          .loop = LoopKind::plain,
          .is_base = false,
          .read = nullptr,
          .write = write};
}

}  // namespace tidemark::io::training_format_python
