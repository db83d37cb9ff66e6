#include "zoo/reference_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/did_you_mean.h"
#include "zoo/config_keys.h"
#include "zoo/hf_config.h"

namespace tidemark {
namespace {

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) result.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return result;
}

bool holds(std::string_view keys, std::string_view key) {
  for (std::size_t at = keys.find(key); at != std::string_view::npos; at = keys.find(key, at + 1)) {
    const std::size_t end = at + key.size();
    if ((at == 0 || keys[at - 1] == ' ') && (end == keys.size() || keys[end] == ' ')) return true;
  }
  return false;
}

const ConfigClass* class_of(std::string_view model_type) {
  for (const ConfigClass& one : config_classes())
    if (one.model_type == model_type) return &one;
  return nullptr;
}

/// Whether a key that is not of the class says what transformers does anyhow: getattr(config, key, VALUE).
bool says_nothing(const Value::Item& item) {
  static const std::array<Value::Item, 2> kUsual{{{"gradient_checkpointing", false}, {"is_causal", true}}};
  return item.value.is_null() || std::find(kUsual.begin(), kUsual.end(), item) != kUsual.end();
}

class Reader {
 public:
  Value read(const Value& config, const ConfigClass& own, const std::string& path) {
    Value result = Value::Map();
    for (const Value::Item& item : *config.as_map()) {
      if (covers(harmless_, item.key) || is_read(item.key, own, config)) {
        result.append(item.key, read_part(item, own, path));
      } else if (!holds(kKeysOfAllClasses, item.key) || is_of_text_part(item.key, own)) {
        unread_.push_back(described(item.key, own, config, path));
      } else if (!says_nothing(item)) {
        result.append(item.key, item.value);
      }
    }
    return result;
  }

  const std::vector<std::string>& unread() const { return unread_; }

 private:
  static bool is_read(const std::string& key, const ConfigClass& own, const Value& config) {
    if (holds(own.keys, key)) return true;
    return own.takes_text_keys && !config.find("text_config") && is_of_text_part(key, own);
  }

  /// PreTrainedConfig.get_text_config: what is asked of all classes is asked of the text part where there is one.
  static bool is_of_text_part(const std::string& key, const ConfigClass& own) {
    for (const ConfigPart& part : own.parts)
      if (part.key == "text_config") return holds(class_of(part.model_type)->keys, key);
    return false;
  }

  Value read_part(const Value::Item& item, const ConfigClass& own, const std::string& path) {
    for (const ConfigPart& part : own.parts) {
      if (part.key != item.key || !item.value.as_map()) continue;
      const Value* type = part.says_its_type ? item.value.find("model_type") : nullptr;
      const ConfigClass* its = class_of(type && type->as_text() ? std::string_view(*type->as_text()) : part.model_type);
      return its ? read(item.value, *its, path + item.key + ".") : item.value;
    }
    return item.value;
  }

  /// A key that is nearly one that is missing may be a typing error, in transformers as well.
  static std::string described(const std::string& key, const ConfigClass& own, const Value& config,
                               const std::string& path) {
    std::vector<std::string> missing = words(own.keys);
    std::erase_if(missing, [&](const std::string& one) { return config.find(one) != nullptr; });
    const auto near = nearest_name(key, missing);
    return path + key + (near ? " (" + *near + "?)" : "");
  }

  const KeyNames harmless_ = harmless_config_keys();
  std::vector<std::string> unread_;
};

/// Those that transformers does not train as they are stored (5.23.0: quantizers/quantizer_finegrained_fp8.py and
/// quantizer_mxfp4.py, is_trainable), or that it decompresses before the first forward
/// (quantizer_compressed_tensors.py): with dequantize=True there is nothing left that is quantized.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kDequantized{
    {{"fp8", "FineGrainedFP8Config"}, {"mxfp4", "Mxfp4Config"}, {"compressed-tensors", "CompressedTensorsConfig"}}};

void read_quantization(ReferenceConfig& read) {
  Value& config = read.config;
  const Value* quantization = config.find("quantization_config");
  if (!quantization || quantization->is_null()) return;
  const Value* method = quantization->find("quant_method");
  const std::string name = method && method->as_text() ? *method->as_text() : quantization->quoted();
  const auto* found =
      std::find_if(kDequantized.begin(), kDequantized.end(), [&](const auto& one) { return one.first == name; });
  const bool is_kept = name == "bitsandbytes";
  refuse(found == kDequantized.end() && !is_kept, "quantization_config", name);
  if (is_kept) read.quantization = *quantization;
  config.set("quantization_config", Value());
  if (is_kept)
    return read.assumptions.push_back(
        "config.json: the weights are stored quantized by bitsandbytes: how they get onto the card is taken to be as "
        "of weights that are quantized there");
  read.assumptions.push_back(
      fmt::format("config.json: the weights are stored in {}, which transformers does not train so: they are "
                  "dequantized on loading ({}(dequantize=True))",
                  name, found->second));
}

/// PreTrainedConfig._attn_implementation: an argument of from_pretrained wins over it, and so does --attn.
void read_attention(const Value& config, std::vector<std::string>& assumptions) {
  for (const char* key : {"_attn_implementation", "attn_implementation"})
    if (const Value* said = config.find(key); said && said->as_text() && *said != Value("sdpa"))
      assumptions.push_back(
          fmt::format("config.json: {} = {} is not followed: attention is what --attn says", key, *said->as_text()));
}

}  // namespace

ReferenceConfig as_transformers_reads(const Value& config) {
  const Value* type = config.find("model_type");
  const ConfigClass* own = type && type->as_text() ? class_of(*type->as_text()) : nullptr;
  Reader reader;
  ReferenceConfig result{.config = own ? reader.read(config, *own, "") : config, .assumptions = {}};
  read_quantization(result);
  read_attention(result.config, result.assumptions);
  if (!reader.unread().empty()) result.assumptions.push_back(told_unread(reader.unread()));
  return result;
}

bool is_of_every_class(std::string_view key) {
  return holds(kKeysOfAllClasses, key) || covers(harmless_config_keys(), key);
}

std::string told_unread(const std::vector<std::string>& keys) {
  return fmt::format("config.json: transformers does not read {}, so it changes nothing", fmt::join(keys, ", "));
}

}  // namespace tidemark
