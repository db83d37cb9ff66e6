// Element types, and the type that an operation on two of them has.  torch: c10/core/ScalarType.h
#pragma once
#include <cstdint>
#include <string_view>

namespace tidemark {

enum class Dtype : std::uint8_t { boolean, uint8, int8, int16, int32, int64, f16, bf16, f32, f64, complex64 };

constexpr std::int64_t size_of(Dtype dtype) {
  constexpr std::int64_t kBytes[] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 8};
  return kBytes[static_cast<int>(dtype)];
}

/// Complex numbers, too, as autograd takes these for such.
constexpr bool is_floating(Dtype dtype) { return dtype >= Dtype::f16; }

/// The type that holds both, when neither is a zero-dimensional tensor: c10::promoteTypes.
constexpr Dtype promote(Dtype a, Dtype b) {
  if (a == b) return a;
  const Dtype low = a < b ? a : b, high = a < b ? b : a;
  if (low == Dtype::uint8 && high == Dtype::int8) return Dtype::int16;
  return low == Dtype::f16 && high == Dtype::bf16 ? Dtype::f32 : high;
}

/// "bfloat16", as torch writes it.
constexpr std::string_view name_of(Dtype dtype) {
  constexpr std::string_view kNames[] = {"bool",    "uint8",    "int8",    "int16",   "int32",    "int64",
                                         "float16", "bfloat16", "float32", "float64", "complex64"};
  return kNames[static_cast<int>(dtype)];
}

}  // namespace tidemark
