#include "estimate/quantization.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "estimate/program.h"

namespace tidemark {
namespace {

struct NamedType {
  std::string_view name;
  QuantStorage storage;
};
constexpr NamedType kTypes[] = {{"uint8", QuantStorage::uint8},
                                {"bfloat16", QuantStorage::bf16},
                                {"float16", QuantStorage::fp16},
                                {"float32", QuantStorage::fp32}};

QuantStorage read_type(const Value& value, const ValuePath& path) {
  std::string name = to_text(value, path);
  if (name.starts_with("torch.")) name.erase(0, 6);
  const auto* const found =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const NamedType& type) { return type.name == name; });
  if (found == std::end(kTypes)) fail_expected("uint8, bfloat16, float16 or float32", value, path);
  return found->storage;
}

WeightDtype read_compute_type(const Value& value, const ValuePath& path) {
  const QuantStorage type = read_type(value, path);
  if (type == QuantStorage::uint8) fail_expected("bfloat16, float16 or float32", value, path);
  return static_cast<WeightDtype>(static_cast<int>(type) - 1);
}

std::vector<std::string> read_names(const Value& value, const ValuePath& path) {
  std::vector<std::string> names;
  const Value::List& list = to_list(value, path);
  for (std::size_t i = 0; i < list.size(); ++i) names.push_back(to_text(list[i], path[i]));
  return names;
}

}  // namespace

QuantizationOptions quantization_options(const QuantizationSpec& spec) {
  constexpr Dtype kStorages[] = {Dtype::uint8, Dtype::bf16, Dtype::f16, Dtype::f32};
  static_assert(std::size(kStorages) == kQuantStorageNames.size());
  return {.use_double_quant = spec.use_double_quant,
          .compute_dtype = dtype_of(spec.compute_dtype),
          .quant_storage = kStorages[static_cast<int>(spec.quant_storage)],
          .skip_modules = spec.skip_modules};
}

/// transformers: utils/quantization_config.py, BitsAndBytesConfig (5.17.0), whose other keys change nothing of 4 bits.
QuantizationSpec read_quantization_config(const Value& map) {
  const ValuePath path{"config.json", "quantization_config"};
  const auto find = [&](const char* key) -> const Value* {
    const Value* found = map.find(key);
    return found && !found->is_null() ? found : nullptr;
  };
  const Value* four = find("load_in_4bit");
  if (!four || !to_bool(*four, path / "load_in_4bit"))
    throw Error(Errc::unsupported, "weights that bitsandbytes has quantized are simulated in 4 bits alone", (path / "load_in_4bit").text(),
                "run the program itself with `tidemark run`");
  QuantizationSpec spec;
  if (const Value* type = find("bnb_4bit_quant_type")) {
    const auto* const name = std::find(kQuantTypeNames.begin(), kQuantTypeNames.end(), to_text(*type, path / "bnb_4bit_quant_type"));
    if (name == kQuantTypeNames.end()) fail_expected("nf4 or fp4", *type, path / "bnb_4bit_quant_type");
    spec.quant_type = static_cast<QuantType>(name - kQuantTypeNames.begin());
  }
  if (const Value* nested = find("bnb_4bit_use_double_quant"))
    spec.use_double_quant = to_bool(*nested, path / "bnb_4bit_use_double_quant");
  if (const Value* computes = find("bnb_4bit_compute_dtype"))
    spec.compute_dtype = read_compute_type(*computes, path / "bnb_4bit_compute_dtype");
  if (const Value* storage = find("bnb_4bit_quant_storage"))
    spec.quant_storage = read_type(*storage, path / "bnb_4bit_quant_storage");
  if (const Value* skipped = find("llm_int8_skip_modules"))
    spec.skip_modules = read_names(*skipped, path / "llm_int8_skip_modules");
  return spec;
}

Spec with_quantization_of(Spec spec, const Value& quantization_config) {
  QuantizationSpec own = read_quantization_config(quantization_config);
  own.prepare = spec.quantization && spec.quantization->prepare;
  spec.quantization = std::move(own);
  check_spec(spec);
  return spec;
}

}  // namespace tidemark
