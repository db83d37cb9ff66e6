#include "nn/device_map.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <tuple>

#include "nn/quantization.h"

namespace tidemark {
namespace {

struct Weight {
  std::string name;
  Module* module;
  Parameter* parameter;
};

/// dot_natural_key of a part between two dots: a number, or a text and the number that it ends with.
struct NamePart {
  bool is_text = false;
  std::string text;
  std::int64_t number = -1;  // none
  bool operator<(const NamePart& other) const {
    return std::tie(is_text, text, number) < std::tie(other.is_text, other.text, other.number);
  }
};

NamePart name_part(std::string_view part) {
  const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  const auto end_of_text = std::find_if_not(part.rbegin(), part.rend(), is_digit).base();
  NamePart key{.is_text = end_of_text != part.begin(), .text = std::string(part.begin(), end_of_text)};
  std::from_chars(part.data() + (end_of_text - part.begin()), part.data() + part.size(), key.number);
  return key;
}

std::vector<NamePart> natural_key(std::string_view name) {
  std::vector<NamePart> key;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    key.push_back(name_part(name.substr(begin, end - begin)));
    begin = end + 1;
  }
  return key;
}

/// Of a model, each once where it is tied, as a file has them.
std::vector<Weight> weights_by_name(Module& root) {
  std::vector<Weight> weights;
  const auto collect = [&](const auto& self, Module& module) -> void {
    for (const std::shared_ptr<Parameter>& parameter : module.parameters()) {
      const bool is_there =
          parameter.use_count() > 1 && std::any_of(weights.begin(), weights.end(),
                                                   [&](const Weight& one) { return one.parameter == parameter.get(); });
      if (!parameter->is_buffer && !is_there)
        weights.push_back({full_name(module, *parameter), &module, parameter.get()});
    }
    for (const std::unique_ptr<Module>& child : module.children()) self(self, *child);
  };
  collect(collect, root);
  std::stable_sort(weights.begin(), weights.end(),
                   [](const Weight& a, const Weight& b) { return natural_key(a.name) < natural_key(b.name); });
  return weights;
}

/// HfQuantizer.param_element_size: half a byte for each number of 4 bits, one of 8.
std::int64_t counted_bytes(const Weight& weight) {
  const QuantizedWeight* const packed = weight.parameter->load ? weight.module->quantized.get() : nullptr;
  if (!packed) return elements_of(weight.parameter->sizes) * size_of(weight.parameter->dtype);
  const std::int64_t numbers = packed->in * packed->out;
  return packed->options.load_in_8bit ? numbers : numbers / 2;
}

/// get_max_memory looks whether the device answers: torch.tensor([0], device=i)
void look_at_device(Run& run) { to_device(run, Dims{1}, Dtype::int64); }

/// caching_allocator_warmup: memory for all, but for what is cached already, which is let go of at once.
void warm_up(Run& run, const std::vector<Weight>& weights) {
  std::int64_t bytes = 0;
  for (const Weight& weight : weights) bytes += counted_bytes(weight);
  const auto now = run.allocator().totals();
  const std::int64_t unused = now.reserved_bytes - now.allocated_bytes;
  // Between the two is a rule for more than 1.5 GiB that are unused, which a program that begins does not have.
  bytes = bytes - unused > unused ? bytes - unused : 0;
  constexpr std::int64_t kLeft = 12 * (1LL << 30) / 10;  // 1.2 * 1024**3
  bytes = std::max<std::int64_t>(std::min(bytes, run.card().total_bytes - kLeft), 0);
  const Op op(run, "aten::empty");
  empty(run, Dims{bytes / 2}, Dtype::f16);
}

void load(Run& run, const Weight& weight) {
  Parameter& parameter = *weight.parameter;
  const InModule scope(run, *weight.module);
  if (weight.module->quantized) weight.module->quantized->comes_as_it_is = true;
  parameter.tensor =
      parameter.load ? parameter.load(run, *weight.module) : to_device(run, parameter.sizes, parameter.dtype);
  parameter.tensor.impl().requires_grad = parameter.trains;
}

}  // namespace

void load_by_device_map(Run& run, Module& root, bool is_auto) {
  if (is_auto) look_at_device(run);
  const std::vector<Weight> weights = weights_by_name(root);
  warm_up(run, weights);
  root.name_in(run);
  for (const Weight& weight : weights) load(run, weight);
  root.load(run);  // buffers, which are left
}

}  // namespace tidemark
