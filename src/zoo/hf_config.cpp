#include "zoo/hf_config.h"

#include "base/error.h"

namespace tidemark {

std::int64_t RopeConfig::rotary_dim(std::int64_t head_dim) const {
  return static_cast<std::int64_t>(static_cast<double>(head_dim) * rotated());
}

/// transformers: modeling_rope_utils.py, ROPE_INIT_FUNCTIONS and dynamic_rope_update (5.17.0)
double RopeConfig::rotated() const {
  double share = partial_rotary_factor;
  for (const auto& [key_of_map, map] :
       {std::pair("rope_scaling", &rope_scaling), std::pair("rope_parameters", &rope_parameters)}) {
    if (map->is_null()) continue;
    const ValuePath path{"config.json", key_of_map};
    if (!map->as_map()) fail_expected("a map", *map, path);
    for (const char* key : {"rope_type", "type"}) {
      const Value* type = map->find(key);
      if (!type || type->is_null()) continue;
      const std::string& name = to_text(*type, path / key);
      refuse(name != "default" && name != "linear" && name != "llama3" && name != "yarn", key, name);
    }
    const Value* factor = map->find("partial_rotary_factor");
    if (!factor) continue;
    share = to_real(*factor, path / "partial_rotary_factor");
    if (share < 0 || share > 1) fail_expected("a number between 0 and 1", *factor, path / "partial_rotary_factor");
  }
  return share;
}

void refuse(bool is, std::string_view key, std::string_view value) {
  if (is)
    throw Error(Errc::unsupported, std::string(key) + " = " + std::string(value) + " is not simulated",
                "config.json: " + std::string(key));
}

/// transformers: configuration_utils.PreTrainedConfig (5.17.0), and keys that older versions wrote.
KeyNames harmless_config_keys() {
  return {"_*",
          "add_cross_attention",
          "architectures",
          "attn_implementation",
          "auto_map",
          "bad_words_ids",
          "begin_suppress_tokens",
          "bos_token_id",
          "chunk_size_feed_forward",
          "cls_token_id",
          "cross_attention_hidden_size",
          "decoder_start_token_id",
          "diversity_penalty",
          "do_sample",
          "dtype",
          "early_stopping",
          "encoder_no_repeat_ngram_size",
          "eos_token_id",
          "exponential_decay_length_penalty",
          "finetuning_task",
          "forced_bos_token_id",
          "forced_eos_token_id",
          "id2label",
          "initializer_factor",
          "initializer_range",
          "is_decoder",
          "is_encoder_decoder",
          "label2id",
          "length_penalty",
          "max_length",
          "min_length",
          "model_type",
          "name_or_path",
          "no_repeat_ngram_size",
          "num_beam_groups",
          "num_beams",
          "num_return_sequences",
          "output_attentions",
          "output_hidden_states",
          "output_scores",
          "pad_token_id",
          "prefix",
          "pretraining_tp",
          "problem_type",
          "quantization_config",
          "remove_invalid_values",
          "repetition_penalty",
          "return_dict",
          "return_dict_in_generate",
          "sep_token_id",
          "suppress_tokens",
          "task_specific_params",
          "temperature",
          "tf_legacy_loss",
          "tokenizer_class",
          "top_k",
          "top_p",
          "torch_dtype",
          "torchscript",
          "transformers_version",
          "typical_p",
          "use_bfloat16",
          "use_cache"};
}

}  // namespace tidemark
