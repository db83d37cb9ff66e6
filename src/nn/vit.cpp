#include "nn/vit.h"

namespace tidemark {
namespace {

Tensor patch_convolution_forward(Module& m, Tensor x) {
  return patch_convolution(std::move(x), m("weight"), m.has_parameter("bias") ? m("bias") : Tensor());
}

}  // namespace

Module& add_patch_convolution(Module& parent, std::string_view name, std::int64_t in, std::int64_t out,
                              const Dims& kernel, bool bias) {
  Dims weight{out, in};
  for (const std::int64_t size : kernel) weight.push_back(size);
  Module& m = parent.add(name, patch_convolution_forward).parameter("weight", weight);
  return bias ? m.parameter("bias", {out}) : m;
}

}  // namespace tidemark
