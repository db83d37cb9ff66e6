#include "estimate/reference_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/error.h"

namespace tidemark {
namespace {

/// What transformers asks every configuration for (5.17.0: configuration_utils.py, PreTrainedConfig), and what that or
/// an older release writes into each, of no matter to a training.
// clang-format off: several to a line
constexpr std::string_view kOfEveryClass[] = {
    "add_cross_attention", "architectures", "attention_chunk_size", "attention_dropout", "attn_implementation",
    "auto_map", "bad_words_ids", "base_model_pp_plan", "base_model_tp_plan", "begin_suppress_tokens",
    "bos_token_id", "chunk_size_feed_forward", "cls_token_id", "cross_attention_hidden_size",
    "decoder_start_token_id", "distributed_config", "diversity_penalty", "do_sample", "dtype", "early_stopping",
    "encoder_no_repeat_ngram_size", "eos_token_id", "experts_implementation", "exponential_decay_length_penalty",
    "finetuning_task", "forced_bos_token_id", "forced_eos_token_id", "fusion_config", "gradient_checkpointing",
    "id2label", "init_std", "initializer_factor", "initializer_range", "is_causal", "is_decoder",
    "is_encoder_decoder", "label2id", "layer_types", "length_penalty", "max_length", "min_length", "model_type",
    "name_or_path", "no_repeat_ngram_size", "num_beam_groups", "num_beams", "num_hidden_layers",
    "num_kv_shared_layers", "num_labels", "num_return_sequences", "number_of_conv_states", "output_attentions",
    "output_hidden_states", "output_scores", "pad_token_id", "per_layer_config", "prefix", "pretraining_tp",
    "problem_type", "quantization_config", "remove_invalid_values", "repetition_penalty", "return_dict",
    "return_dict_in_generate", "sep_token_id", "sliding_window", "sub_configs", "suppress_tokens",
    "task_specific_params", "temperature", "tf_legacy_loss", "tokenizer_class", "top_k", "top_p", "torch_dtype",
    "torchscript", "transformers_version", "transformers_weights", "typical_p", "use_bfloat16", "use_cache"};
// clang-format on

/// Those that transformers does not train as they are stored (5.23.0: quantizers/quantizer_finegrained_fp8.py and
/// quantizer_mxfp4.py, is_trainable), or that it decompresses before the first forward
/// (quantizer_compressed_tensors.py): with dequantize=True there is nothing left that is quantized.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kDequantized{
    {{"fp8", "FineGrainedFP8Config"}, {"mxfp4", "Mxfp4Config"}, {"compressed-tensors", "CompressedTensorsConfig"}}};

void read_quantization(ReferenceConfig& read) {
  Value& config = read.config;
  const Value* quantization = config.find("quantization_config");
  if (!quantization || quantization->is_null()) return;
  const Value* method = quantization->find("quant_method");
  const std::string name = method && method->as_text() ? *method->as_text() : quantization->quoted();
  const auto* found =
      std::find_if(kDequantized.begin(), kDequantized.end(), [&](const auto& one) { return one.first == name; });
  const bool is_kept = name == "bitsandbytes";
  if (found == kDequantized.end() && !is_kept)
    throw Error(Errc::unsupported, fmt::format("quantization_config = {} is not simulated", name),
                "config.json: quantization_config");
  if (is_kept) read.quantization = *quantization;
  config.set("quantization_config", Value());
  if (is_kept)
    return read.assumptions.push_back(
        "config.json: the weights are stored quantized by bitsandbytes: how they get onto the card is taken to be as "
        "of weights that are quantized there");
  read.assumptions.push_back(
      fmt::format("config.json: the weights are stored in {}, which transformers does not train so: they are "
                  "dequantized on loading ({}(dequantize=True))",
                  name, found->second));
}

/// PreTrainedConfig._attn_implementation: an argument of from_pretrained wins over it, and so does --attn.
void read_attention(const Value& config, std::vector<std::string>& assumptions) {
  for (const char* key : {"_attn_implementation", "attn_implementation"})
    if (const Value* said = config.find(key); said && said->as_text() && *said != Value("sdpa"))
      assumptions.push_back(
          fmt::format("config.json: {} = {} is not followed: attention is what --attn says", key, *said->as_text()));
}

}  // namespace

ReferenceConfig as_transformers_reads(const Value& config) {
  ReferenceConfig result{.config = config, .assumptions = {}};
  read_quantization(result);
  read_attention(result.config, result.assumptions);
  return result;
}

bool is_of_every_class(std::string_view key) {
  return key.starts_with('_') || std::ranges::find(kOfEveryClass, key) != std::end(kOfEveryClass);
}

}  // namespace tidemark
