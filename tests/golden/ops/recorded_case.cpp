#include "recorded_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <sstream>

#include "memory/allocator_settings.h"
#include "tensor/engine.h"
#include "tensor/torch_rules.h"

namespace tidemark {
namespace {

/// What happened since the last call, in order.
class Recorder {
 public:
  explicit Recorder(Run& run) : run_(run) {}
  Events take() {
    std::vector<std::pair<std::int64_t, std::int64_t>> found;
    for (const LedgerEntry& entry : run_.ledger()) {
      if (entry.born > before_) found.emplace_back(entry.born, entry.requested_bytes);
      if (entry.died > before_) found.emplace_back(entry.died, -entry.requested_bytes);
    }
    before_ = run_.timeline().events();
    std::sort(found.begin(), found.end());
    Events events;
    for (const auto& [when, bytes] : found) events.push_back(bytes);
    return events;
  }

 private:
  Run& run_;
  std::int64_t before_ = 0;
};

Events sorted_frees(Events events) {
  for (auto first = events.begin(); first != events.end();) {
    const auto last = std::find_if(first, events.end(), [](std::int64_t bytes) { return bytes > 0; });
    std::sort(first, last);
    first = last == events.end() ? last : last + 1;
  }
  return events;
}

Dims sizes_of(const std::string& text) {
  Dims sizes;
  std::stringstream stream(text);
  for (std::string number; std::getline(stream, number, 'x');) sizes.push_back(std::stoll(number));
  return sizes;
}

/// Sizes whose dimensions lie in memory in the given order, digits from the outermost.
Layout ordered(const Dims& sizes, const std::string& order) {
  Layout layout{sizes, contiguous_strides(sizes)};
  std::int64_t stride = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    const int d = order[i] - '0';
    layout.strides[d] = stride;
    stride *= std::max<std::int64_t>(sizes[d], 1);
  }
  return layout;
}

/// "dtype sizes [pORDER] [xSIZES] [g|w]"
Tensor make(Run& run, const std::string& description, std::vector<Tensor>& leaves) {
  std::stringstream stream(description);
  std::string dtype, sizes, word, flag;
  stream >> dtype >> sizes;
  Layout layout{sizes == "scalar" ? Dims{} : sizes_of(sizes), {}};
  layout.strides = contiguous_strides(layout.sizes);
  Dims expanded;
  while (stream >> word) {
    if (word[0] == 'p')
      layout = ordered(layout.sizes, word.substr(1));
    else if (word[0] == 'x')
      expanded = sizes_of(word.substr(1));
    else
      flag = word;
  }
  Tensor tensor = empty(run, layout, dtype_named(dtype));
  if (expanded.count() > 0) tensor = expand(std::move(tensor), expanded);
  if (flag.empty()) return tensor;
  tensor.impl().requires_grad = true;
  leaves.push_back(tensor);
  return flag == "g" ? add_scalar(std::move(tensor)) : tensor;
}

std::string describe(const Tensor& y) {
  if (!y) return "null";
  return fmt::format("{} ({}) strides ({})", name_of(y.dtype()), fmt::join(y.sizes(), ","),
                     fmt::join(y.layout().strides, ","));
}

std::string describe(const io::Json& y) {
  if (y.is_null()) return "null";
  return fmt::format("{} ({}) strides ({})", y["dtype"].get<std::string>(), fmt::join(y["sizes"].get<Events>(), ","),
                     fmt::join(y["strides"].get<Events>(), ","));
}

std::string difference(const char* phase, Events want, Events got) {
  if (sorted_frees(want) == sorted_frees(got)) return {};
  return fmt::format("{}\n  want {}\n  got  {}\n", phase, fmt::join(want, " "), fmt::join(got, " "));
}

RunConfig config_for(const Card& card, const TorchRules& torch) {
  RunConfig config{.card = card, .torch = &torch, .allocator = {}, .on_event = {}};
  config.allocator.rules = torch.allocator;
  config.allocator.settings = parse_allocator_settings("", config.allocator.rules);
  config.allocator.device = {.total_bytes = std::int64_t{1} << 40, .unavailable_bytes = 0, .context_bytes = 0};
  return config;
}

/// The workspaces of matrix products, of the program's thread and of autograd's.
void warm_up(Run& run) {
  for (const bool in_backward : {false, true}) {
    const Setting<bool> thread(run.in_backward, in_backward);
    const Tensor x = empty(run, Dims{16, 16}, Dtype::f32), weight = empty(run, Dims{16, 16}, Dtype::f32);
    if (in_backward)
      mm(x, weight);
    else
      linear(x, weight, empty(run, Dims{16}, Dtype::f32));
  }
}

Tensor call_under_autocast(Call call, Inputs& inputs, const io::Json& recorded, Run& run) {
  const io::Json none = io::Json::object();
  const Arguments arguments(recorded.contains("args") ? recorded["args"] : none);
  if (!recorded.contains("autocast")) return call(inputs, arguments, run);
  const Setting<Dtype> dtype(run.autocast.dtype, dtype_named(recorded["autocast"]));
  Tensor y;
  {
    const Setting<bool> enabled(run.autocast.enabled, true);
    y = call(inputs, arguments, run);
  }
  run.autocast.weights.clear();
  return y;
}

}  // namespace

Dims Arguments::dims(const char* key) const {
  Dims dims;
  if (json_.contains(key))
    for (const auto& number : json_[key]) dims.push_back(number.get<std::int64_t>());
  return dims;
}

Dtype dtype_named(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(Dtype::complex64); ++i)
    if (name_of(static_cast<Dtype>(i)) == name) return static_cast<Dtype>(i);
  TM_CHECK(false, "no such type");
  return {};
}

std::string compare(Call call, const io::Json& recorded, const Card& card, const TorchRules& torch, bool hand_over) {
  Run run(config_for(card, torch));
  if (!recorded.contains("cold")) warm_up(run);
  std::vector<Tensor> leaves;
  Inputs inputs;
  inputs.hand_over = hand_over;
  for (const io::Json& description : recorded["in"])
    inputs.tensors.push_back(description.is_null() ? Tensor() : make(run, description, leaves));
  Recorder recorder(run);
  recorder.take();
  Tensor y = call_under_autocast(call, inputs, recorded, run);
  std::string found;
  if (describe(y) != describe(recorded["y"]))
    found += fmt::format("result\n  want {}\n  got  {}\n", describe(recorded["y"]), describe(y));
  Events forward = recorder.take(), want = recorded["forward"].get<Events>();
  Tensor z = y && is_floating(y.dtype()) ? add_scalar(y) : Tensor();
  y.reset();
  inputs.tensors.clear();
  Events drop = recorder.take(), want_drop = recorded["drop"].get<Events>();
  if (hand_over) {  // when the arguments are freed is before the call returns, but not before it has allocated all
    forward.insert(forward.end(), drop.begin(), drop.end());
    want.insert(want.end(), want_drop.begin(), want_drop.end());
    const auto last = z ? std::find(forward.rbegin(), forward.rend(), z.bytes()) : forward.rend();
    const auto want_last = z ? std::find(want.rbegin(), want.rend(), z.bytes()) : want.rend();
    if (last != forward.rend()) std::rotate(last, last + 1, forward.rend());
    if (want_last != want.rend()) std::rotate(want_last, want_last + 1, want.rend());
    found += difference("forward, handed over", want, forward);
  } else {
    found += difference("forward", want, forward) + difference("drop", want_drop, drop);
  }
  if (!recorded.contains("backward")) return z && z.requires_grad() ? found + "result needs a gradient\n" : found;
  if (!z || !z.requires_grad()) return found + "result needs no gradient\n";
  Tensor gradient =
      recorded.contains("gradient") ? empty(run, ordered(z.sizes(), recorded["gradient"]), z.dtype()) : empty_like(z);
  recorder.take();
  backward(z, gradient);
  return found + difference("backward", recorded["backward"].get<Events>(), recorder.take());
}

}  // namespace tidemark
