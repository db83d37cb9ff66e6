// What one call reads: whether true data alone, or floats that nobody computed.
#pragma once
#include "host_twin.h"
#include "known_floats.h"

namespace tidemark {

struct Census {
  bool cuda_inputs = false;   // it reads the virtual device
  bool cuda_floats = false;   // … and float (or quantised, sparse, nested) data there, which is not known
  bool integers = false;      // an argument, here or on the host, is integer or boolean
  bool known_floats = false;  // it reads floats there that follow from integers
};

inline Census take_census(const Arguments& arguments) {
  Census census;
  for (const c10::IValue& value : arguments)
    for_each_tensor(value, [&](const at::Tensor& tensor) {
      const bool integer = c10::isIntegralType(tensor.scalar_type(), /*includeBool=*/true);
      census.integers |= integer;
      if (!tensor.is_cuda()) return;
      census.cuda_inputs = true;
      const bool known = !integer && is_known_float(tensor);
      census.known_floats |= known;
      census.cuda_floats |= (!integer && !known) || !is_plain(tensor);
    });
  return census;
}

}  // namespace tidemark
