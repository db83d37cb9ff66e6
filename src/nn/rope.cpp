#include "nn/rope.h"

namespace tidemark {
namespace {

/// One number for each of x.
Tensor numbers(const char* name, const Tensor& x, Dtype dtype) {
  const Op op(x, name);
  return empty(x.run(), x.sizes(), dtype);
}

/// 1.0 / x
Tensor one_over(const Tensor& x) { return mul_scalar(numbers("aten::reciprocal", x, Dtype::f32)); }

/// base ** x, the base being a Python number: it becomes a tensor beside the result.
Tensor power_of_number(Tensor x) {
  Tensor y = numbers("aten::pow", x, Dtype::f32);
  const Op op(x, "aten::pow");
  const Tensor base = empty(x.run(), Dims{}, Dtype::f32);
  return y;
}

/// _compute_longrope_parameters
Tensor longrope_parameters(Run& run, std::int64_t pairs) {
  const Tensor ext_factors = to_device(run, Dims{pairs}, Dtype::f32);
  Tensor inv_freq_shape = arange(run, pairs);
  inv_freq_shape = to(inv_freq_shape, Dtype::f32);
  inv_freq_shape = div_scalar(inv_freq_shape);
  const Tensor scaled = mul(ext_factors, power_of_number(inv_freq_shape));
  return one_over(scaled);
}

/// _compute_dynamic_ntk_parameters: the base follows from the length, on the device.
Tensor dynamic_parameters(const Tensor& length, std::int64_t pairs) {
  Run& run = length.run();
  Tensor seq_len;
  {
    const Tensor max_position_embeddings = to_device(run, Dims{}, Dtype::int64);
    seq_len = numbers("aten::maximum", length, Dtype::int64);
  }
  Tensor base = div_scalar(numbers("aten::mul", seq_len, Dtype::f32));
  for (const char* step : {"aten::sub", "aten::pow", "aten::mul"}) base = numbers(step, base, Dtype::f32);
  Tensor powers = div_scalar(to_device(run, Dims{pairs}, Dtype::f32));
  powers = numbers("aten::pow", powers, Dtype::f32);
  return one_over(powers);
}

}  // namespace

void update_frequencies(Module& rotary, const RopeUpdate& update, const Tensor& position_ids) {
  if (update.kind == RopeUpdate::Kind::none) return;
  const std::int64_t length = position_ids.size(-1);
  Parameter& inv_freq = rotary.get("inv_freq");
  const std::int64_t pairs = inv_freq.sizes[0];
  const Tensor seq_len = add_scalar(max(position_ids));
  {
    const Tensor longer = compare("aten::gt", seq_len);
  }
  if (update.kind == RopeUpdate::Kind::longrope) {  // computed anew each time: the name it is kept under is another
    inv_freq.tensor =
        length > update.original_length ? longrope_parameters(seq_len.run(), pairs) : rotary("original_inv_freq");
    return;
  }
  if (length > update.original_length && rotary.attributes.empty()) {
    inv_freq.tensor = dynamic_parameters(seq_len, pairs);
    rotary.attributes.push_back(seq_len);  // max_seq_len_cached
  }
  const Tensor shorter = compare("aten::lt", seq_len);
}

}  // namespace tidemark
