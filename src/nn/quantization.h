// Models whose linear modules are quantized by bitsandbytes, as transformers and PEFT make them.
// transformers: integrations/bitsandbytes.py, quantizers/base.py (5.17.0); bitsandbytes: nn/modules.py (0.50.2); peft:
// utils/other.py (0.21.2)
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nn/module.h"
#include "ops/matmul_4bit.h"
#include "ops/matmul_8bit.h"

namespace tidemark {

struct QuantizationOptions {
  bool load_in_8bit = false;
  bool threshold = true;  // of 8 bits: activations are compared with one
  bool use_double_quant = false;
  Dtype compute_dtype = Dtype::f32;
  Dtype quant_storage = Dtype::uint8;
  /// Patterns for the full names of modules that stay as they are; none: those that transformers leaves out.
  std::optional<std::vector<std::string>> skip_modules = {};
};

/// What a quantized module has in the place of a weight that can be multiplied.
struct QuantizedWeight {
  std::int64_t in = 0, out = 0;
  Dtype dtype = Dtype::f32;  // that it is quantized from
  QuantizationOptions options;
  QuantState state;                     // as soon as there is memory: of 4 bits
  Rows8bit rows;                        // of 8 bits
  std::shared_ptr<Tensor> dynamic_map;  // one for all modules
  bool comes_as_it_is = false;          // onto the card; else in the type that it is quantized in there
};

/// replace_with_bnb_linear, before there is memory.  Throws Error{bad_value} where nothing is left to quantize.
void quantize_modules(Module& root, const QuantizationOptions& options);

/// prepare_model_for_kbit_training: all that is not quantized becomes fp32.
void prepare_for_kbit_training(Run& run, Module& root);

}  // namespace tidemark
