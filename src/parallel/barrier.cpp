#include "parallel/barrier.h"

namespace tidemark {

void barrier(Run& run, Tensor& kept) {
  const auto made = [&run](const char* name) {
    const Op op(run, name);
    return empty(run, Dims{1}, Dtype::f32);
  };
  kept = made("aten::empty");
  made("c10d::barrier").reset();
}

}  // namespace tidemark
