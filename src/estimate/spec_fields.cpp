#include "estimate/spec.h"

#include "estimate/field_info.h"

namespace tidemark {
namespace {

void fields_of_model_and_data(Spec& self, const FieldVisitor& visit) {
  using namespace spec_detail;
  std::string_view group = "Model";
  visit("model", self.model,
        text(group, "config.json, the folder that holds it, a name on the hub, or the configuration itself", "CONFIG"));
  visit("generation_config", self.generation_config,
        text(group, "generation_config.json, or its keys (default: beside config.json)", "FILE"));
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

void fields_of_checkpointing(Spec& self, const FieldVisitor& visit) {
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

void fields_of_training(Spec& self, const FieldVisitor& visit) {
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

}  // namespace

void LoraSpec::fields(LoraSpec& self, const FieldVisitor& visit) {
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

void QuantizationSpec::fields(QuantizationSpec& self, const FieldVisitor& visit) {
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

void GrpoSpec::fields(GrpoSpec& self, const FieldVisitor& visit) {
  using spec_detail::whole;
  const std::string_view group = "Reinforcement learning";
  visit("max_completion_length", self.max_completion_length,
        whole(group, "Tokens of a completion, the last of --seq (512, or half of a shorter one)", 0, 1 << 24));
  visit("num_generations", self.num_generations,
        whole(group, "Completions of each prompt (8, or what divides the batch)", 0, 1 << 20));
  visit("beta", self.beta,
        FieldInfo{.help = "KL coefficient; above 0 a reference scores each completion",
                  .placeholder = "X",
                  .group = group,
                  .low = 0,
                  .high = 1e9});
  visit("use_vllm", self.use_vllm,
        FieldInfo{.help = "vLLM samples, and its log-probabilities are corrected", .group = group});
  visit("vllm_gpu_memory_utilization", self.vllm_gpu_memory_utilization,
        FieldInfo{.help = "Share of the GPU that a colocated vLLM keeps (0: vLLM is elsewhere)",
                  .placeholder = "X",
                  .group = group,
                  .low = 0,
                  .high = 0.99});
  visit("loss_type", self.loss_type, FieldInfo{.help = "Type of the loss", .group = group, .names = kPolicyLossNames});
  visit("importance_sampling_level", self.importance_sampling_level,
        FieldInfo{.help = "Importance ratios per token or per sequence", .group = group, .names = kSamplingLevelNames});
}

void Spec::fields(Spec& self, const FieldVisitor& visit) {
  fields_of_model_and_data(self, visit);
  fields_of_training(self, visit);
}

}  // namespace tidemark
