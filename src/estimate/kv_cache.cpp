#include "estimate/kv_cache.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {
namespace {

enum class Kind { full, window, state, unknown };

/// Keys of the text model.
class Keys {
 public:
  explicit Keys(const Program& program) : program_(program), config_(program.config) {
    const Value* text = config_.find("text_config");
    if (text && text->as_map()) text_ = text;
  }

  const Value* find(std::string_view name) const {
    const Value* value = value_of(name);
    return value && !value->is_null() ? value : nullptr;
  }

  /// Whether the class has the key, be it null.
  bool has(std::string_view name) const { return value_of(name); }

  std::optional<std::int64_t> number(std::initializer_list<std::string_view> names) const {
    for (const std::string_view name : names) {
      if (const Value* value = find(name); value && value->as_integer()) return *value->as_integer();
      if (const auto bound = symbol(text_ ? "text_config." + std::string(name) : std::string(name))) return bound;
    }
    return std::nullopt;
  }

  bool flag(std::string_view name) const {
    const Value* value = find(name);
    return value && value->as_bool() && *value->as_bool();
  }

  std::string_view type() const {
    const Value* value = find("model_type");
    return value && value->as_text() ? std::string_view(*value->as_text()) : "";
  }

 private:
  const Value* value_of(std::string_view name) const {
    const Value* inner = text_ ? text_->find(name) : nullptr;
    return inner ? inner : config_.find(name);
  }

  std::optional<std::int64_t> symbol(const std::string& path) const {
    const auto found = std::find(program_.symbols.begin(), program_.symbols.end(), path);
    if (found == program_.symbols.end()) return std::nullopt;
    return program_.captured_values[static_cast<std::size_t>(found - program_.symbols.begin())];
  }

  const Program& program_;
  const Value& config_;
  const Value* text_ = nullptr;
};

bool is_decoder(const Program& program) {
  constexpr std::string_view kHeads[] = {"causal_lm", "image_text_to_text", "prefill"};
  const auto head = program.header.find("head");
  return head != program.header.end() && std::ranges::find(kHeads, head->second) != std::end(kHeads);
}

/// Keys of models whose cache is of another form, or is shared between layers.
constexpr std::string_view kOtherForms[] = {
    "num_kv_shared_layers", "layers_block_type", "hybrid_override_pattern", "attn_layer_period",   "state_size",
    "ssm_state_size",       "mamba_d_state",     "index_head_dim",          "block_types",         "attention_types",
    "attn_layer_indices",   "global_head_dim",   "cross_attention_layers",  "attention_chunk_size"};

bool has_other_form(const Keys& keys) {
  return keys.flag("is_encoder_decoder") ||
         std::any_of(std::begin(kOtherForms), std::end(kOtherForms),
                     [&](std::string_view name) { return keys.find(name) && keys.number({name}) != 0; });
}

Kind kind_named(std::string_view name) {
  if (name == "full_attention") return Kind::full;
  if (name == "sliding_attention") return Kind::window;
  return name == "linear_attention" || name == "conv" ? Kind::state : Kind::unknown;
}

/// Each `period`-th layer holds all tokens.
std::vector<Kind> every(std::int64_t period, std::int64_t layers, Kind other) {
  std::vector<Kind> kinds;
  for (std::int64_t layer = 0; layer < layers; ++layer)
    kinds.push_back(period > 0 && (layer + 1) % period == 0 ? Kind::full : other);
  return kinds;
}

/// The kinds that a configuration class makes its layer_types of; empty of a class that is not listed.
/// transformers: models/*/configuration_*.py (5.24.0)
std::vector<Kind> kinds_by_class(const Keys& keys, std::int64_t layers, bool has_window) {
  const std::string_view type = keys.type();
  if (type == "gemma2" || type == "gpt_oss") return every(2, layers, Kind::window);
  if (type == "gemma3_text") return every(keys.number({"sliding_window_pattern"}).value_or(6), layers, Kind::window);
  if (type == "cohere2") return every(keys.number({"sliding_window_pattern"}).value_or(4), layers, Kind::window);
  if (const auto interval = keys.number({"full_attention_interval"})) return every(*interval, layers, Kind::state);
  if (!type.starts_with("qwen") && type != "smollm3") return {};
  std::vector<Kind> kinds(static_cast<std::size_t>(layers), Kind::full);
  if (!has_window || !keys.flag("use_sliding_window")) return kinds;
  const auto first = type == "smollm3" ? std::nullopt : keys.number({"max_window_layers"});
  if (!first) return {};
  std::fill(kinds.begin() + std::clamp<std::int64_t>(*first, 0, layers), kinds.end(), Kind::window);
  return kinds;
}

/// transformers: cache_utils.py, DynamicCache.__init__: without layer_types a window is that of all layers (5.24.0)
std::vector<Kind> kinds_of(const Keys& keys, std::int64_t layers, bool has_window) {
  const Value* types = keys.find("layer_types");
  if (!types && keys.has("layer_types")) return kinds_by_class(keys, layers, has_window);
  if (!types) return std::vector<Kind>(static_cast<std::size_t>(layers), has_window ? Kind::window : Kind::full);
  std::vector<Kind> kinds;
  if (const Value::List* names = types->as_list())
    for (const Value& name : *names) kinds.push_back(name.as_text() ? kind_named(*name.as_text()) : Kind::unknown);
  return kinds;
}

/// Elements of a layer's key and value.  transformers: models/deepseek_v3/modeling_deepseek_v3.py (5.17.0, 5.24.0): the
/// latent is cached, which releases before 5 expand.
std::optional<std::int64_t> elements_of_token(const Keys& keys, std::string_view transformers) {
  const auto heads = keys.number({"num_attention_heads", "n_head", "n_heads", "num_heads"});
  const auto hidden = keys.number({"hidden_size", "n_embd", "d_model"}), head_dim = keys.number({"head_dim"});
  const auto latent = keys.number({"kv_lora_rank"}), rotated = keys.number({"qk_rope_head_dim"});
  if (latent && rotated) return transformers.starts_with("4.") ? std::nullopt : std::optional(*latent + *rotated);
  if (!heads || *heads < 1 || (!head_dim && !hidden)) return std::nullopt;
  std::int64_t key_heads = keys.number({"num_key_value_heads", "num_kv_heads"}).value_or(*heads);
  // transformers: models/falcon/modeling_falcon.py, FalconAttention (5.24.0): the newer caches a key for each query.
  if (keys.flag("new_decoder_architecture"))
    key_heads = *heads;
  else if (keys.flag("multi_query"))
    key_heads = 1;
  return 2 * key_heads * head_dim.value_or(hidden.value_or(0) / *heads);
}

}  // namespace

std::optional<KvCacheReport> kv_cache_of(const Program& program, Dtype dtype) {
  if (!is_decoder(program)) return std::nullopt;
  const Keys keys(program);
  const auto layers = keys.number({"num_hidden_layers", "n_layer", "n_layers", "num_layers"});
  const std::optional<std::int64_t> elements = elements_of_token(keys, program.transformers);
  if (!layers || !elements || has_other_form(keys)) return std::nullopt;
  const std::optional<std::int64_t> window = keys.number({"sliding_window"});
  const std::vector<Kind> kinds = kinds_of(keys, *layers, window.has_value());
  if (std::ssize(kinds) != *layers) return std::nullopt;
  KvCacheReport report;
  for (const Kind kind : kinds) {
    if (kind == Kind::unknown || (kind == Kind::window && !window)) return std::nullopt;
    ++(kind == Kind::full ? report.layers : kind == Kind::window ? report.window_layers : report.state_layers);
  }
  report.bytes_per_token = report.layers * *elements * size_of(dtype);
  report.window_bytes_per_token = report.window_layers * *elements * size_of(dtype);
  report.window_tokens = report.window_layers > 0 ? *window : 0;
  return report;
}

}  // namespace tidemark
