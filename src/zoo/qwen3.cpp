// transformers: models/qwen3/{configuration,modeling}_qwen3.py (5.17.0)
#include "zoo/causal_lm.h"
#include "zoo/index.h"
#include "zoo/text_config.h"
#include "zoo/windows.h"

namespace tidemark {
namespace {

struct Qwen3Config : LateWindowsConfig {
  bool attention_bias = false;

  Qwen3Config() { head_dim = 128; }
  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    LateWindowsConfig::fields(c, visit);
    visit("attention_bias", c.attention_bias, kAny);
  }
};

Decoder qwen3_decoder(const Value& config) {
  const auto c = read_config<Qwen3Config>(config);
  Decoder decoder = c.decoder();
  decoder.qkv_bias = decoder.output_bias = c.attention_bias;
  decoder.qk_norm = true;
  return decoder;
}

}  // namespace

std::unique_ptr<Model> make_qwen3(const ModelRequest& request) {
  return make_causal_lm(request, qwen3_decoder(request.config));
}

}  // namespace tidemark
