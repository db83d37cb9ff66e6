// Quantized weights: what a spec or a config.json asks for.
#pragma once
#include "estimate/spec.h"
#include "nn/quantization.h"

namespace tidemark {

QuantizationOptions quantization_options(const QuantizationSpec& spec);

/// The quantization_config of weights that bitsandbytes has quantized.  Throws Error{unsupported} for weights that stay
/// fp16, and Error{bad_value}.
QuantizationSpec read_quantization_config(const Value& map);

/// What the weights' own configuration says wins over what is asked for.
/// transformers: quantizers/auto.py, merge_quantization_configs (5.17.0)
Spec with_quantization_of(Spec spec, const Value& quantization_config);

}  // namespace tidemark
