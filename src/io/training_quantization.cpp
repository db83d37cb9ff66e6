#include "io/training_quantization.h"

#include <algorithm>

#include "io/training_arguments.h"

namespace tidemark::io {

QuantType read_quant_type(TrainingKeys& keys, std::string_view key) {
  const auto text = keys.text(key);
  if (!text) return QuantType::nf4;
  const auto* const found = std::find(kQuantTypeNames.begin(), kQuantTypeNames.end(), *text);
  if (found == kQuantTypeNames.end()) keys.refuse_now(key, {}, "it is nf4 or fp4");
  return static_cast<QuantType>(found - kQuantTypeNames.begin());
}

QuantizationSpec in_8bits() {
  QuantizationSpec spec;
  spec.load_in_8bit = true;
  return spec;
}

QuantStorage storage_as(WeightDtype dtype) { return static_cast<QuantStorage>(static_cast<int>(dtype) + 1); }

QuantStorage read_quant_storage(TrainingKeys& keys, std::string_view key) {
  const auto text = keys.text(key);
  if (!text || *text == "uint8") return QuantStorage::uint8;
  const auto dtype = weight_dtype(*text);
  if (!dtype) keys.refuse_now(key, {}, "it is uint8, bfloat16, float16 or float32");
  return storage_as(*dtype);
}

void set_quantization(TrainingKeys& keys, std::string_view key, QuantizationSpec quantization, TrainingDraft& draft) {
  if (!draft.spec.lora) keys.refuse_now(key, "quantized weights are not trained", "adapters beside them are: LoRA");
  draft.spec.quantization = std::move(quantization);
  draft.assume("weights get to the card one after another, and are quantized there");
}

}  // namespace tidemark::io
