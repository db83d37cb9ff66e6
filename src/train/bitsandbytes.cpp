// bitsandbytes/optim/optimizer.py (0.50.2), Optimizer1State and Optimizer2State: one parameter after the other, each
// updated in place by one kernel.
#include <algorithm>

#include "base/error.h"
#include "nn/layers.h"
#include "train/optimizer.h"

namespace tidemark {
namespace {

constexpr std::int64_t kLeast8bitElements = 4096;     // min_8bit_size
constexpr std::int64_t kLeastPagedElements = 100000;  // get_state_buffer
constexpr std::int64_t kBlockElements = 256, kMapElements = 256;

struct Kind {
  int states, bits;
  bool is_paged;
};

/// get_state_buffer: managed memory belongs to the driver, and a tensor of PyTorch's without bytes stands for it.
Tensor state_buffer(const Kind& kind, const Tensor& parameter, Dtype dtype) {
  Run& run = parameter.run();
  const Op op(parameter, "aten::zeros_like");
  if (!kind.is_paged || parameter.elements() < kLeastPagedElements) return empty(run, parameter.sizes(), dtype);
  run.managed_bytes += parameter.elements() * size_of(dtype);
  return empty(run, Dims{0}, dtype);
}

bool has_32bit_states(const Optimizer& optimizer, const Tensor& parameter) {
  return std::any_of(optimizer.has_32bit_states.begin(), optimizer.has_32bit_states.end(),
                     [&](const Tensor& other) { return &other.impl() == &parameter.impl(); });
}

/// Optimizer2State.init_state
void add_states(const Kind& kind, const Tensor& parameter, Optimizer& optimizer, ParameterState& state) {
  Run& run = parameter.run();
  TensorList& maps = optimizer.shared_state;
  const bool is_8bit =
      kind.bits == 8 && parameter.elements() >= kLeast8bitElements && !has_32bit_states(optimizer, parameter);
  if (is_8bit && maps.empty())
    for (int map = 0; map < kind.states; ++map) maps.push_back(to_device(run, Dims{kMapElements}, Dtype::f32));
  for (int which = 0; which < kind.states; ++which)
    state.push_back(state_buffer(kind, parameter, is_8bit ? Dtype::uint8 : Dtype::f32));
  if (!is_8bit) return;
  const std::int64_t blocks = (parameter.elements() + kBlockElements - 1) / kBlockElements;
  for (int which = 0; which < kind.states; ++which) state.push_back(zeros(run, Dims{blocks}, Dtype::f32));
}

template <Kind kind>
void step(Optimizer& optimizer) {
  init_state(optimizer,
             [&](const Tensor& parameter, ParameterState& state) { add_states(kind, parameter, optimizer, state); });
}

template <Kind kind>
Optimizer make(TensorList parameters, const OptimizerOptions& options) {
  if (options.loop != OptimizerLoop::automatic)
    throw Error(Errc::unsupported, "an optimizer of bitsandbytes has one implementation", "optimizer_impl");
  return {.options = options, .parameters = std::move(parameters), .state = {}, .step = step<kind>};
}

/// nn.Embedding, or a class that is derived from it: "Gemma3TextScaledWordEmbedding".
const Parameter* weight_of_embedding(Module& module) {
  if (!is_embedding(module) && module.class_name.find("Embedding") == std::string::npos) return nullptr;
  for (const std::shared_ptr<Parameter>& parameter : module.parameters())
    if (parameter->name == "weight" && !parameter->is_buffer && parameter->sizes.count() == 2) return parameter.get();
  return nullptr;
}

}  // namespace

void keep_32bit_states_of_embeddings(Module& module, Optimizer& optimizer) {
  if (const Parameter* weight = weight_of_embedding(module); weight && weight->tensor)
    optimizer.has_32bit_states.push_back(weight->tensor);
  for (const std::unique_ptr<Module>& child : module.children()) keep_32bit_states_of_embeddings(*child, optimizer);
}

Optimizer adamw_8bit(TensorList parameters, const OptimizerOptions& options) {
  return make<Kind{2, 8, false}>(std::move(parameters), options);
}
Optimizer paged_adamw_8bit(TensorList parameters, const OptimizerOptions& options) {
  return make<Kind{2, 8, true}>(std::move(parameters), options);
}
Optimizer paged_adamw_32bit(TensorList parameters, const OptimizerOptions& options) {
  return make<Kind{2, 32, true}>(std::move(parameters), options);
}
Optimizer lion_8bit(TensorList parameters, const OptimizerOptions& options) {
  return make<Kind{1, 8, false}>(std::move(parameters), options);
}
Optimizer lion_32bit(TensorList parameters, const OptimizerOptions& options) {
  return make<Kind{1, 32, false}>(std::move(parameters), options);
}
Optimizer paged_lion_8bit(TensorList parameters, const OptimizerOptions& options) {
  return make<Kind{1, 8, true}>(std::move(parameters), options);
}
Optimizer paged_lion_32bit(TensorList parameters, const OptimizerOptions& options) {
  return make<Kind{1, 32, true}>(std::move(parameters), options);
}

}  // namespace tidemark
