#include "nn/alibi.h"

#include <algorithm>
#include <bit>

namespace tidemark {

Tensor build_alibi_tensor(const Tensor& attention_mask, std::int64_t num_heads, Dtype dtype) {
  Run& run = attention_mask.run();
  const std::int64_t batch_size = attention_mask.size(0), seq_length = attention_mask.size(1);
  const auto closest_power_of_2 = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(num_heads)));
  const Tensor base = full(run, {}, Dtype::f32);
  const Tensor powers = arange(run, closest_power_of_2, Dtype::int32);
  Tensor slopes = pow_tensor(base, powers), extra_base, extra_powers;
  if (closest_power_of_2 != num_heads) {
    extra_base = full(run, {}, Dtype::f32);
    extra_powers = arange(run, std::min(closest_power_of_2, num_heads - closest_power_of_2), Dtype::int32);
    Tensor extra_slopes = pow_tensor(extra_base, extra_powers);
    slopes = cat({slopes, std::move(extra_slopes)}, 0);
  }
  const Tensor arange_tensor = unsqueeze(mul(sub_scalar(cumsum(attention_mask, -1)), attention_mask), 1);
  const Tensor alibi = mul(unsqueeze(slopes, 1), arange_tensor);
  return to(reshape(alibi, {batch_size * num_heads, 1, seq_length}), dtype);
}

}  // namespace tidemark
