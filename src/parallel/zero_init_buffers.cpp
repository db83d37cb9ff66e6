#include "parallel/zero_init_buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"

namespace tidemark {
namespace {

/// A vector that a function of torch makes, with what it is computed from.
class Vector {
 public:
  Vector(Run& run, const char* name, std::int64_t elements, Dtype dtype) : run_(run), elements_(elements) {
    *this = then(name, dtype);
  }
  Vector(Vector&&) = default;
  Vector(const Vector&) = default;
  Vector& operator=(const Vector& other) {
    values_ = other.values_;
    return *this;
  }

  Vector then(const char* name, Dtype dtype) const {
    Vector next(*this);
    const Op op(run_, name);
    next.values_ = empty(run_, Dims{elements_}, dtype);
    return next;
  }
  Vector then(const char* name) const { return then(name, values_.dtype()); }
  /// number / x
  Vector under_number() const { return then("aten::reciprocal").then("aten::mul"); }
  /// number ** x: the number becomes a tensor beside the result.
  Vector power_of_number() const {
    Vector result = then("aten::pow");
    const Op op(run_, "aten::pow");
    empty(run_, Dims{}, values_.dtype()).reset();
    return result;
  }
  const Tensor& values() const { return values_; }

 private:
  Run& run_;
  std::int64_t elements_;
  Tensor values_;
};

/// torch.arange(0, dim, 2, dtype=torch.float), which zero.Init casts.
Vector arange_as_float(Run& run, std::int64_t pairs) {
  return Vector(run, "aten::arange", pairs, Dtype::f32).then("aten::to", Dtype::bf16);
}
/// torch.arange(0, dim, 2, dtype=torch.int64).to(torch.float), which it does not know.
Vector arange_of_integers(Run& run, std::int64_t pairs) {
  return Vector(run, "aten::arange", pairs, Dtype::int64).then("aten::to", Dtype::f32);
}

/// 1.0 / (base ** (positions / dim))
Vector inverse_powers(Vector positions) {
  positions = positions.then("aten::div");
  positions = positions.power_of_number();
  return positions.under_number();
}

/// _compute_linear_scaling_rope_parameters, and _compute_dynamic_ntk_parameters
Vector linear_frequencies(Run& run, std::int64_t pairs) { return inverse_powers(arange_of_integers(run, pairs)); }

/// _compute_llama3_parameters
Vector llama3_frequencies(Run& run, std::int64_t pairs) {
  const Vector inv_freq = linear_frequencies(run, pairs), wavelen = inv_freq.under_number();
  Vector inv_freq_llama = [&] {
    const Vector longer = inv_freq.then("aten::gt", Dtype::boolean), divided = inv_freq.then("aten::div");
    return inv_freq.then("aten::where");
  }();
  Vector smooth_factor = wavelen.under_number();
  smooth_factor = smooth_factor.then("aten::sub");
  smooth_factor = smooth_factor.then("aten::div");
  const Vector smoothed = [&] {
    Vector rest = smooth_factor.then("aten::rsub");
    rest = rest.then("aten::mul");
    rest = rest.then("aten::div");
    const Vector share = smooth_factor.then("aten::mul");
    return rest.then("aten::add");
  }();
  const Vector is_medium_freq = [&] {
    Vector shorter = wavelen.then("aten::lt", Dtype::boolean);
    shorter = shorter.then("aten::bitwise_not");
    Vector longer = wavelen.then("aten::gt", Dtype::boolean);
    longer = longer.then("aten::bitwise_not");
    return shorter.then("aten::mul");
  }();
  return inv_freq_llama.then("aten::where");
}

/// _compute_yarn_parameters
Vector yarn_frequencies(Run& run, std::int64_t pairs) {
  Vector pos_freqs = arange_of_integers(run, pairs);
  pos_freqs = pos_freqs.then("aten::div");
  pos_freqs = pos_freqs.power_of_number();
  const Vector extrapolation = pos_freqs.under_number();
  const Vector interpolation = pos_freqs.then("aten::mul").under_number();
  Vector factor = arange_as_float(run, pairs);
  for (const char* step : {"aten::sub", "aten::div", "aten::clamp"}) factor = factor.then(step);
  factor = factor.then("aten::to", Dtype::f32);
  factor = factor.then("aten::rsub");
  Vector left = factor.then("aten::rsub");
  left = left.then("aten::mul");
  const Vector right = extrapolation.then("aten::mul");
  return left.then("aten::add");
}

/// _compute_longrope_parameters
Vector longrope_frequencies(Run& run, std::int64_t pairs) {
  const Vector ext_factors = Vector(run, "aten::to", pairs, Dtype::f32).then("aten::to", Dtype::bf16);
  Vector powers = arange_of_integers(run, pairs).then("aten::div");
  Vector scaled = [&] {
    const Vector raised = powers.power_of_number();
    return raised.then("aten::mul");
  }();
  return scaled.under_number();
}

struct Rope {
  std::string_view type;
  Vector (*frequencies)(Run& run, std::int64_t pairs);
};

/// compute_default_rope_parameters of a family, and ROPE_INIT_FUNCTIONS.
/// transformers: modeling_rope_utils.py (5.17.0)
constexpr std::array kRopes{
    Rope{"default", [](Run& run, std::int64_t pairs) { return inverse_powers(arange_as_float(run, pairs)); }},
    Rope{"linear", linear_frequencies},
    Rope{"dynamic", linear_frequencies},
    Rope{"llama3", llama3_frequencies},
    Rope{"yarn", yarn_frequencies},
    Rope{"longrope", longrope_frequencies},
};

void set(Module& module, const char* name, const Tensor& value) {
  Parameter& buffer = module.get(name);
  value.impl().layout = {buffer.sizes, contiguous_strides(buffer.sizes)};
  buffer.tensor = value;
  buffer.dtype = value.dtype();
}

/// A rotary embedding's own, of which there is a copy.
void make_frequencies(Run& run, Module& module, std::string_view type) {
  const auto* const rope =
      std::find_if(kRopes.begin(), kRopes.end(), [&](const Rope& one) { return one.type == type; });
  if (rope == kRopes.end())
    throw Error(Errc::unsupported,
                fmt::format("what rotary embeddings of type {} take under zero.Init is not known", type), "zero.init");
  const Vector frequencies = rope->frequencies(run, module.get("inv_freq").sizes[0]);
  const Vector copy = frequencies.then("aten::clone");
  set(module, "inv_freq", frequencies.values());
  set(module, "original_inv_freq", copy.values());
}

/// torch.arange(n).expand((1, -1))
void make_positions(Run& run, Module& module, Parameter& buffer) {
  const Op op(run, "aten::arange");
  set(module, buffer.name.c_str(), empty(run, buffer.sizes, Dtype::int64));
}

/// torch.tensor(scale), of a Python number
void make_number(Run& run, Module& module, Parameter& buffer) {
  const Op op(run, "aten::to");
  set(module, buffer.name.c_str(), empty(run, buffer.sizes, Dtype::bf16));
}

struct Known {
  std::string_view name;
  Dtype dtype;
  void (*make)(Run& run, Module& module, Parameter& buffer);
};
constexpr std::array kKnown{Known{"position_ids", Dtype::int64, make_positions},
                            Known{"embed_scale", Dtype::bf16, make_number}};

}  // namespace

void make_buffers(Run& run, Module& module, const std::string& rope_type) {
  for (const std::shared_ptr<Parameter>& buffer : module.parameters()) {
    if (!buffer->is_buffer || buffer->name == "original_inv_freq") continue;
    if (buffer->name == "inv_freq" && module.has_parameter("original_inv_freq")) {
      make_frequencies(run, module, rope_type);
      continue;
    }
    const auto* const known = std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& one) {
      return one.name == buffer->name && one.dtype == buffer->dtype;
    });
    if (known == kKnown.end())
      throw Error(Errc::unsupported,
                  fmt::format("what the buffer {} takes under zero.Init is not known", full_name(module, *buffer)),
                  "zero.init");
    known->make(run, module, *buffer);
  }
}

}  // namespace tidemark
