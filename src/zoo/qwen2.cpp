// transformers: models/qwen2/{configuration,modeling}_qwen2.py (5.17.0)
#include "zoo/causal_lm.h"
#include "zoo/index.h"
#include "zoo/text_config.h"
#include "zoo/windows.h"

namespace tidemark {
namespace {

Decoder qwen2_decoder(const Value& config) {
  const auto c = read_config<LateWindowsConfig>(config);
  Decoder decoder = c.decoder();
  decoder.qkv_bias = true;
  return decoder;
}

}  // namespace

std::unique_ptr<Model> make_qwen2(const ModelRequest& request) {
  return make_causal_lm(request, qwen2_decoder(request.config));
}

}  // namespace tidemark
