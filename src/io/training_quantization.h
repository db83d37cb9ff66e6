// Quantized weights, as the trainers' files say them.
#pragma once
#include <string_view>

#include "io/training_config.h"

namespace tidemark::io {

/// "nf4" or "fp4" under the key; nf4 where it says nothing, as all trainers have it.
QuantType read_quant_type(TrainingKeys& keys, std::string_view key);
/// A type of torch's under the key, or uint8, which it is where the key is missing.
QuantStorage read_quant_storage(TrainingKeys& keys, std::string_view key);

/// BitsAndBytesConfig(load_in_8bit=True)
QuantizationSpec in_8bits();

/// Packed weights kept as the type that is computed in.
QuantStorage storage_as(WeightDtype dtype);

/// To be called when the adapters are known: refuses `key` without any.
void set_quantization(TrainingKeys& keys, std::string_view key, QuantizationSpec quantization, TrainingDraft& draft);

}  // namespace tidemark::io
