#include "zoo/hf_config.h"

namespace tidemark {

/// RotaryEmbeddingConfigMixin.convert_rope_params_to_dict
std::pair<const Value&, ValuePath> RopeConfig::map() const {
  const bool older = rope_scaling.as_map() ? !rope_scaling.as_map()->empty() : !rope_scaling.is_null();
  const Value& map = older ? rope_scaling : rope_parameters;
  const ValuePath path{"config.json", older ? "rope_scaling" : "rope_parameters"};
  if (!map.as_map() && !map.is_null()) fail_expected("a map", map, path);
  return {map, path};
}

void RopeConfig::rename_type(std::initializer_list<const char*> older, const char* name) {
  for (Value* rope : {&rope_scaling, &rope_parameters})
    for (const char* key : {"rope_type", "type"})
      for (const char* other : older)
        if (const Value* type = rope->find(key); type && *type == Value(other)) rope->set(key, name);
}

std::int64_t RopeConfig::rotary_dim(std::int64_t head_dim) const {
  const auto [rope, path] = map();
  const Value* factor = rope.find("partial_rotary_factor");
  const double share = factor ? to_real(*factor, path / "partial_rotary_factor") : partial_rotary_factor;
  if (share < 0 || share > 1) fail_expected("a number between 0 and 1", *factor, path / "partial_rotary_factor");
  return static_cast<std::int64_t>(static_cast<double>(head_dim) * share);
}

namespace {

/// As many factors as there are frequencies.
void check_factors(const Value& rope, const ValuePath& path, const char* key, std::int64_t frequencies) {
  const Value* factors = rope.find(key);
  if (factors && factors->as_list() && std::ssize(*factors->as_list()) == frequencies) return;
  fail_expected("a list of " + std::to_string(frequencies) + " numbers", factors ? *factors : Value(), path / key);
}

}  // namespace

/// ROPE_INIT_FUNCTIONS and dynamic_rope_update
RopeUpdate RopeConfig::update(std::int64_t head_dim, std::int64_t max_position_embeddings) const {
  const auto [rope, path] = map();
  std::string name = "default";
  const char* key = "rope_type";
  for (const char* known : {"type", "rope_type"})
    if (const Value* type = rope.find(known); type && !type->is_null())
      name = to_text(*type, path / known), key = known;
  RopeUpdate update{.kind = RopeUpdate::Kind::none, .original_length = max_position_embeddings};
  if (name == "default") return update;
  refuse(name != "linear" && name != "llama3" && name != "yarn" && name != "dynamic" && name != "longrope", key, name);
  if (name != "longrope") {
    const Value* factor = rope.find("factor");
    to_real(factor ? *factor : Value(), path / "factor");
    if (name == "dynamic") update.kind = RopeUpdate::Kind::dynamic;
    return update;
  }
  update.kind = RopeUpdate::Kind::longrope;
  for (const char* factors : {"short_factor", "long_factor"})
    check_factors(rope, path, factors, rotary_dim(head_dim) / 2);
  if (const Value* original = rope.find("original_max_position_embeddings"); original && !original->is_null())
    update.original_length = to_integer(*original, path / "original_max_position_embeddings");
  return update;
}

void refuse(bool is, std::string_view key, std::string_view value) {
  if (is)
    throw Error(Errc::unsupported, std::string(key) + " = " + std::string(value) + " is not simulated",
                "config.json: " + std::string(key));
}

void fail_reading(const Error& error) {
  if (error.code() != Errc::unknown_name) throw error;
  throw Error(Errc::unsupported, error.message() + " here, and transformers reads it", error.where(), error.hint());
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
          "num_labels",
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
