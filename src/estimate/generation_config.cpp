#include "estimate/generation_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"

namespace tidemark {
namespace {

constexpr const char* kFile = "generation_config.json";

/// Keys that add work or tensors to generate(do_sample=False), unless they have the value beside them, null or false.
struct NeutralKey {
  const char* name;
  double value = 0;
};
constexpr NeutralKey kNeutralKeys[] = {
    {"num_beams", 1},
    {"num_return_sequences", 1},
    {"penalty_alpha"},
    {"guidance_scale", 1},
    {"encoder_repetition_penalty", 1},
    {"no_repeat_ngram_size"},
    {"encoder_no_repeat_ngram_size"},
    {"min_length"},
    {"min_new_tokens"},
};
constexpr const char* kAbsentKeys[] = {
    "sequence_bias",
    "bad_words_ids",
    "forced_bos_token_id",
    "remove_invalid_values",
    "exponential_decay_length_penalty",
    "suppress_tokens",
    "renormalize_logits",
    "watermarking_config",
    "return_dict_in_generate",
    "output_scores",
    "output_logits",
    "output_attentions",
    "output_hidden_states",
    "prefill_chunk_size",
    "max_time",
    "stop_strings",
    "token_healing",
    "prompt_lookup_num_tokens",
    "dola_layers",
    "forced_eos_token_id",
    "begin_suppress_tokens",
};

bool is_set(const Value* value, double neutral) {
  if (!value || value->is_null()) return false;
  if (const bool* flag = value->as_bool()) return *flag;
  if (const std::int64_t* number = value->as_integer()) return static_cast<double>(*number) != neutral;
  if (const double* number = value->as_real()) return *number != neutral;
  return true;
}

bool is_off(const Value* value) { return value && value->as_bool() && !*value->as_bool(); }

[[noreturn]] void refuse_key(const std::string& key, const Value& value, const std::string& where) {
  throw Error(Errc::unsupported, fmt::format("generate() with {} = {} is not simulated", key, value.quoted()),
              fmt::format("{}: {}", where, key),
              "remove the key, or run generate() itself: tidemark run -- python examples/generate.py config.json");
}

/// "hybrid" of the hub's files is unset.  transformers: generation/utils.py, _prepare_generation_config (5.24.0)
void check_cache(const Value& keys, const std::string& where) {
  const Value* kind = keys.find("cache_implementation");
  constexpr std::string_view kDynamic[] = {"dynamic", "hybrid"};
  if (!kind || kind->is_null()) return;
  if (!kind->as_text() || std::ranges::find(kDynamic, *kind->as_text()) == std::end(kDynamic))
    refuse_key("cache_implementation", *kind, where);
}

void check_keys(const Value& keys, const std::string& where) {
  for (const NeutralKey& key : kNeutralKeys)
    if (const Value* value = keys.find(key.name); is_set(value, key.value)) refuse_key(key.name, *value, where);
  for (const char* key : kAbsentKeys)
    if (const Value* value = keys.find(key); is_set(value, 0)) refuse_key(key, *value, where);
  check_cache(keys, where);
}

/// A key of a model's configuration, then of its text_config.
const Value* with_text_config(const Value& config, std::string_view name) {
  const Value* own = config.find(name);
  if (own && !own->is_null()) return own;
  const Value* text = config.find("text_config");
  const Value* inner = text && text->as_map() ? text->find(name) : nullptr;
  return inner ? inner : own;
}

std::int64_t count_of(const Value* tokens) {
  if (!tokens || tokens->is_null()) return 0;
  return tokens->as_list() ? std::ssize(*tokens->as_list()) : 1;
}

}  // namespace

GenerationConfig generation_config_of(const Spec& spec, const Value& model_config) {
  const Value& keys = spec.generation_config;
  if (keys.as_map()) {
    check_keys(keys, kFile);
    if (is_off(keys.find("use_cache"))) refuse_key("use_cache", *keys.find("use_cache"), kFile);
    return {.has_bos = count_of(keys.find("bos_token_id")) > 0,
            .has_pad = count_of(keys.find("pad_token_id")) > 0,
            .eos_tokens = count_of(keys.find("eos_token_id")),
            .penalizes_repetition = is_set(keys.find("repetition_penalty"), 1)};
  }
  check_keys(model_config, "config.json");
  const Value* const bos = with_text_config(model_config, "bos_token_id");
  const Value* const eos = with_text_config(model_config, "eos_token_id");
  return {.has_bos = !bos || count_of(bos) > 0,
          .has_pad = count_of(with_text_config(model_config, "pad_token_id")) > 0,
          .eos_tokens = eos ? count_of(eos) : 1,
          .penalizes_repetition = is_set(model_config.find("repetition_penalty"), 1),
          .has_cache_off = is_off(model_config.find("use_cache"))};
}

}  // namespace tidemark
