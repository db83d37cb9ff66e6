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

const Value* said(const Value& map, const char* key) {
  const Value* found = map.find(key);
  return found && !found->is_null() ? found : nullptr;
}

bool is_on(const Value& map, const char* key, const ValuePath& path) {
  const Value* found = said(map, key);
  return found && to_bool(*found, path / key);
}

/// transformers: utils/quantization_config.py, BitsAndBytesConfig (5.17.0), whose other keys change nothing of 4 bits.
QuantizationSpec read_4bit(const Value& map, const ValuePath& path) {
  const auto find = [&](const char* key) { return said(map, key); };
  QuantizationSpec spec;
  if (const Value* type = find("bnb_4bit_quant_type")) {
    const auto* const name =
        std::find(kQuantTypeNames.begin(), kQuantTypeNames.end(), to_text(*type, path / "bnb_4bit_quant_type"));
    if (name == kQuantTypeNames.end()) fail_expected("nf4 or fp4", *type, path / "bnb_4bit_quant_type");
    spec.quant_type = static_cast<QuantType>(name - kQuantTypeNames.begin());
  }
  if (const Value* nested = find("bnb_4bit_use_double_quant"))
    spec.use_double_quant = to_bool(*nested, path / "bnb_4bit_use_double_quant");
  if (const Value* computes = find("bnb_4bit_compute_dtype"))
    spec.compute_dtype = read_compute_type(*computes, path / "bnb_4bit_compute_dtype");
  if (const Value* storage = find("bnb_4bit_quant_storage"))
    spec.quant_storage = read_type(*storage, path / "bnb_4bit_quant_storage");
  return spec;
}

/// The same of 8 bits, whose keys begin with llm_int8_.
QuantizationSpec read_8bit(const Value& map, const ValuePath& path) {
  if (is_on(map, "llm_int8_has_fp16_weight", path))
    throw Error(Errc::unsupported, "weights that stay fp16 and are quantized in each forward are not simulated",
                (path / "llm_int8_has_fp16_weight").text(), "run the program itself with `tidemark run`");
  QuantizationSpec spec;
  spec.load_in_8bit = true;
  if (const Value* threshold = said(map, "llm_int8_threshold"))
    spec.threshold = to_real(*threshold, path / "llm_int8_threshold");
  return spec;
}

}  // namespace

QuantizationOptions quantization_options(const QuantizationSpec& spec) {
  constexpr Dtype kStorages[] = {Dtype::uint8, Dtype::bf16, Dtype::f16, Dtype::f32};
  static_assert(std::size(kStorages) == kQuantStorageNames.size());
  return {.load_in_8bit = spec.load_in_8bit,
          .threshold = spec.threshold > 0,
          .use_double_quant = spec.use_double_quant,
          .compute_dtype = dtype_of(spec.compute_dtype),
          .quant_storage = kStorages[static_cast<int>(spec.quant_storage)],
          .skip_modules = spec.skip_modules};
}

QuantizationSpec read_quantization_config(const Value& map) {
  const ValuePath path{"config.json", "quantization_config"};
  const bool in_4bit = is_on(map, "load_in_4bit", path), in_8bit = is_on(map, "load_in_8bit", path);
  if (in_4bit == in_8bit)
    throw Error(Errc::bad_value, "bitsandbytes quantizes in 4 bits or in 8", (path / "load_in_4bit").text(),
                "set one of load_in_4bit and load_in_8bit");
  QuantizationSpec spec = in_8bit ? read_8bit(map, path) : read_4bit(map, path);
  if (const Value* skipped = said(map, "llm_int8_skip_modules"))
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
