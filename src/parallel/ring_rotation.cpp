#include "parallel/ring_rotation.h"

namespace tidemark {

void RingRotation::exchange_buffers(const Tensor& buffer) {
  const bool gathers = method_ == RotateMethod::allgather;
  if (gathers && received_) return;
  Run& run = buffer.run();
  const Setting<Category> category(run.category, Category::communication);
  const Op op(run, gathers ? "c10d::all_gather_into_tensor" : "c10d::all_to_all_single");
  Tensor received = empty(run, Dims{buffer.elements() * (gathers ? ring_.ranks : 1)}, buffer.dtype());
  run.start_collective(received, buffer);
  received_ = std::move(received);
}

Tensor RingRotation::next_buffer() {
  received_.run().use(received_);
  if (method_ == RotateMethod::alltoall) return received_;
  return slice(received_, 0, 0, received_.elements() / ring_.ranks);  // which of them makes no difference here
}

Tensor flat_pair(const Tensor& key, const Tensor& value) {
  const Setting<Category> category(key.run().category, Category::communication);
  return cat({reshape(key, {-1}), reshape(value, {-1})}, 0);
}

Tensor first_of(const Tensor& pair, const Tensor& like) {
  return view(slice(pair, 0, 0, like.elements()), like.sizes());
}

Tensor second_of(const Tensor& pair, const Tensor& first, const Tensor& like) {
  return view(slice(pair, 0, first.elements(), pair.elements()), like.sizes());
}

Tensor with_half_updated(const Tensor& original) { return cat(chunk(original, 2, 2), 2); }

}  // namespace tidemark
