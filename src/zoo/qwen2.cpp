// transformers: models/qwen2/{configuration,modeling}_qwen2.py (5.17.0)
#include "zoo/causal_lm.h"
#include "zoo/index.h"
#include "zoo/text_config.h"
#include "zoo/windows.h"

namespace tidemark {
namespace {

struct Qwen2Config : DecoderConfig {
  bool use_sliding_window = false;
  std::optional<std::int64_t> sliding_window = 4096;
  std::int64_t max_window_layers = 28;
  std::optional<std::vector<std::string>> layer_types;

  Qwen2Config() {
    vocab_size = 151936, hidden_size = 4096, intermediate_size = 22016, num_hidden_layers = 32;
    num_attention_heads = 32, num_key_value_heads = 32;
  }
  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    DecoderConfig::fields(c, visit);
    visit("sliding_window", c.sliding_window, kSize);
    visit_all(visit, kAny, "use_sliding_window", c.use_sliding_window, "max_window_layers", c.max_window_layers,
              "layer_types", c.layer_types);
  }
};

}  // namespace

Decoder qwen2_decoder(const Value& config) {
  const auto c = read_config<Qwen2Config>(config);
  Decoder decoder = c.decoder();
  decoder.qkv_bias = true;
  set_layer_types(
      decoder, c.layer_types, c.use_sliding_window ? c.sliding_window : std::nullopt,
      [](std::int64_t layer, std::int64_t from) { return layer >= from; }, c.max_window_layers);
  return decoder;
}

std::unique_ptr<Model> make_qwen2(const ModelRequest& request) {
  return make_causal_lm(request, qwen2_decoder(request.config));
}

}  // namespace tidemark
