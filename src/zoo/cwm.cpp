// transformers: models/cwm/{configuration,modeling}_cwm.py (5.17.0)
#include "zoo/causal_lm.h"
#include "zoo/index.h"
#include "zoo/text_config.h"
#include "zoo/windows.h"

namespace tidemark {
namespace {

struct CwmConfig : DecoderConfig {
  bool mlp_bias = false;
  std::int64_t sliding_window = 8192;
  std::optional<std::vector<std::string>> layer_types;

  CwmConfig() {
    vocab_size = 128256, hidden_size = 6144, intermediate_size = 21504, num_hidden_layers = 64;
    num_attention_heads = 48, num_key_value_heads = 8, head_dim = 128;
  }
  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    DecoderConfig::fields(c, visit);
    visit("sliding_window", c.sliding_window, kSize);
    visit_all(visit, kAny, "mlp_bias", c.mlp_bias, "layer_types", c.layer_types);
  }
};

}  // namespace

Decoder cwm_decoder(const Value& config) {
  const auto c = read_config<CwmConfig>(config);
  check_divides({"hidden_size", c.hidden_size}, {"num_attention_heads", c.num_attention_heads});
  Decoder decoder = c.decoder();
  decoder.mlp_bias = c.mlp_bias;
  set_layer_types(
      decoder, c.layer_types, c.sliding_window,
      [](std::int64_t layer, std::int64_t period) { return layer % period != 0; }, 4);
  return decoder;
}

std::unique_ptr<Model> make_cwm(const ModelRequest& request) {
  return make_causal_lm(request, cwm_decoder(request.config));
}

}  // namespace tidemark
