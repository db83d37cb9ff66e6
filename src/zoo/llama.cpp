// transformers: models/llama/{configuration,modeling}_llama.py (5.17.0)
#include "zoo/causal_lm.h"
#include "zoo/index.h"
#include "zoo/text_config.h"

namespace tidemark {
namespace {

struct LlamaConfig : DecoderConfig {
  bool attention_bias = false, mlp_bias = false;

  LlamaConfig() {
    vocab_size = 32000, hidden_size = 4096, intermediate_size = 11008, num_hidden_layers = 32;
    num_attention_heads = 32;
  }
  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    DecoderConfig::fields(c, visit);
    visit_all(visit, kAny, "attention_bias", c.attention_bias, "mlp_bias", c.mlp_bias);
  }
};

Decoder llama_decoder(const Value& config) {
  const auto c = read_config<LlamaConfig>(config);
  check_divides({"hidden_size", c.hidden_size}, {"num_attention_heads", c.num_attention_heads});
  Decoder decoder = c.decoder();
  decoder.qkv_bias = decoder.output_bias = c.attention_bias;
  decoder.mlp_bias = c.mlp_bias;
  return decoder;
}

}  // namespace

std::unique_ptr<Model> make_llama(const ModelRequest& request) {
  return make_causal_lm(request, llama_decoder(request.config));
}

}  // namespace tidemark
