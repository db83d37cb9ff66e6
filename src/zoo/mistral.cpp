// transformers: models/mistral/{configuration,modeling}_mistral.py (5.17.0)
#include "zoo/causal_lm.h"
#include "zoo/index.h"
#include "zoo/text_config.h"

namespace tidemark {
namespace {

struct MistralConfig : DecoderConfig {
  std::optional<std::int64_t> sliding_window = 4096;

  MistralConfig() {
    vocab_size = 32000, hidden_size = 4096, intermediate_size = 14336, num_hidden_layers = 32;
    num_attention_heads = 32, num_key_value_heads = 8;
  }
  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    DecoderConfig::fields(c, visit);
    visit("sliding_window", c.sliding_window, kSize);
  }
};

Decoder mistral_decoder(const Value& config) {
  const auto c = read_config<MistralConfig>(config);
  Decoder decoder = c.decoder();
  decoder.sliding_window = c.sliding_window;
  decoder.full_attention = !c.sliding_window;
  return decoder;
}

}  // namespace

std::unique_ptr<Model> make_mistral(const ModelRequest& request) {
  return make_causal_lm(request, mistral_decoder(request.config));
}

}  // namespace tidemark
