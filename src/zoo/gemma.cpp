// transformers: models/gemma/{configuration,modeling}_gemma.py (5.17.0)
#include "zoo/causal_lm.h"
#include "zoo/index.h"
#include "zoo/text_config.h"

namespace tidemark {
namespace {

struct GemmaConfig : DecoderConfig {
  bool attention_bias = false;
  std::optional<bool> use_bidirectional_attention;

  GemmaConfig() {
    vocab_size = 256000, hidden_size = 3072, intermediate_size = 24576, num_hidden_layers = 28;
    num_attention_heads = 16, num_key_value_heads = 16, head_dim = 256;
    hidden_act = "gelu_pytorch_tanh", tie_word_embeddings = true, pad_token_id = 0;
  }
  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    DecoderConfig::fields(c, visit);
    visit_all(visit, kAny, "attention_bias", c.attention_bias, "use_bidirectional_attention",
              c.use_bidirectional_attention);
  }
  /// hidden_activation: older files have it beside hidden_act, and it is not read.
};

}  // namespace

Decoder gemma_decoder(const Value& config) {
  const auto c = read_config<GemmaConfig>(config);
  refuse(c.use_bidirectional_attention.value_or(false), "use_bidirectional_attention", "true");
  Decoder decoder = c.decoder();
  decoder.qkv_bias = decoder.output_bias = c.attention_bias;
  decoder.gemma_norm = decoder.scaled_embedding = true;
  return decoder;
}

std::unique_ptr<Model> make_gemma(const ModelRequest& request) {
  return make_causal_lm(request, gemma_decoder(request.config));
}

}  // namespace tidemark
