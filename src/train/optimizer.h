// torch.optim: what each optimizer allocates in a step, by the names of its own code.  One file per optimizer.
#pragma once
#include <optional>
#include <vector>

#include "ops/ops.h"

namespace tidemark {

class Module;

/// How the parameters are gone through; `automatic` is torch's choice: foreach, but for Adafactor.
enum class OptimizerLoop { automatic, foreach, fused, for_loop };

struct OptimizerOptions {
  OptimizerLoop loop = OptimizerLoop::automatic;
  double momentum = 0;
  std::optional<double> weight_decay = {};  // none: the optimizer's own default
  bool amsgrad = false, nesterov = false, centered = false, maximize = false;
};

using TensorList = std::vector<Tensor>;

/// The state of one parameter, in the order in which the optimizer makes it; empty before that.  `step` is on the host
/// and not here, unless said.
using ParameterState = Tensors;

/// How the gradient of a parameter that lies on several devices (torch: DTensor) does: a part like it, the same on all
/// like it, whole beside a part, or a sum of which each device has its own share.
enum class GradientPlacement : std::uint8_t { plain, part, replicated, whole, sums };

struct Optimizer {
  OptimizerOptions options;
  TensorList parameters;  // trainable, in the order of model.parameters()
  std::vector<ParameterState> state;
  TensorList shared_state = {};  // of all parameters: bitsandbytes' quantization maps
  TensorList locals = {};        // of a step() that goes through all groups itself, from one group to the next
  void (*step)(Optimizer& optimizer);
  /// How many parameters stand in each of its param_groups, in order; empty: one group.  They are stepped one by one.
  std::vector<std::size_t> group_sizes = {};
  /// By parameter; empty: none lies on several devices.
  std::vector<GradientPlacement> gradient_placements = {};
  TensorList has_32bit_states = {};                       // parameters whose states an 8-bit optimizer keeps in 32 bits
  std::size_t stepped_begin = 0, stepped_end = SIZE_MAX;  // of the group that is being stepped

  /// Divides by the scale inside its own kernel: torch.optim.Optimizer._step_supports_amp_scaling.
  bool supports_amp_scaling = false;
  Run& run() const { return parameters.front().run(); }
};

/// optimizer.step(): one param_group after the other.
void step_groups(Optimizer& optimizer);

using OptimizerMaker = Optimizer (*)(TensorList parameters, const OptimizerOptions& options);

// Each as torch.optim's constructor.  They throw Error{unsupported} for a loop that the optimizer does not have.
Optimizer adam(TensorList parameters, const OptimizerOptions& options);
Optimizer adamw(TensorList parameters, const OptimizerOptions& options);
Optimizer sgd(TensorList parameters, const OptimizerOptions& options);
Optimizer adafactor(TensorList parameters, const OptimizerOptions& options);
Optimizer rmsprop(TensorList parameters, const OptimizerOptions& options);
Optimizer adagrad(TensorList parameters, const OptimizerOptions& options);

// bitsandbytes.optim: AdamW and Lion with states of 8 or 32 bits; those of a paged one are managed memory.
Optimizer adamw_8bit(TensorList parameters, const OptimizerOptions& options);
Optimizer paged_adamw_8bit(TensorList parameters, const OptimizerOptions& options);
Optimizer paged_adamw_32bit(TensorList parameters, const OptimizerOptions& options);
Optimizer lion_8bit(TensorList parameters, const OptimizerOptions& options);
Optimizer lion_32bit(TensorList parameters, const OptimizerOptions& options);
Optimizer paged_lion_8bit(TensorList parameters, const OptimizerOptions& options);
Optimizer paged_lion_32bit(TensorList parameters, const OptimizerOptions& options);

/// The Trainer's choice for an 8-bit optimizer: embeddings keep states in 32 bits.
/// transformers: trainer.py, Trainer.create_optimizer (5.24.0)
void keep_32bit_states_of_embeddings(Module& root, Optimizer& optimizer);

/// transformers.Adafactor, with which `optim: adafactor` of TrainingArguments trains.
Optimizer transformers_adafactor(TensorList parameters, const OptimizerOptions& options);

/// Enters the state in the ledger as the parameters' modules' own.
void name_state(Optimizer& optimizer);

/// optimizer.zero_grad(set_to_none)
void zero_grad(Optimizer& optimizer, bool set_to_none);

// What the optimizers are written with.

/// Parameters of the group that have a gradient, by index.
using Chosen = std::vector<std::size_t>;
Chosen with_gradient(const Optimizer& optimizer);
/// Those of one type together, as a foreach loop takes them.  torch: Optimizer._group_tensors_by_device_and_dtype
std::vector<Chosen> grouped(const Optimizer& optimizer);
/// Calls make(parameter, state) for parameters with a gradient that have no state yet, which has no other effect.
template <class Make>
void init_state(Optimizer& optimizer, Make&& make) {
  const Once once(optimizer.run());
  const Setting<Category> category(optimizer.run().category, Category::optimizer_state);
  optimizer.state.resize(optimizer.parameters.size());
  for (const std::size_t i : with_gradient(optimizer))
    if (optimizer.state[i].empty()) make(optimizer.parameters[i], optimizer.state[i]);
}

/// What an operation on these parameters' gradients makes of those that lie otherwise than they, for its own time.
/// torch: torch/distributed/tensor/_dispatch.py, redistribute_local_args (2.11.0)
TensorList moved_gradients(const Optimizer& optimizer, const Chosen& chosen);

TensorList parameters_of(const Optimizer& optimizer, const Chosen& chosen);
TensorList gradients_of(const Optimizer& optimizer, const Chosen& chosen);
TensorList states_of(const Optimizer& optimizer, const Chosen& chosen, std::size_t which);

/// Reduces one dimension, counted from the end.
Tensor reduced(const char* name, const Tensor& tensor, int d, bool keep_dims);

/// What the foreach loops do to the gradients first: -grad to climb, grad + weight_decay * parameter in it or alone.
void maximize_and_decay(const OptimizerOptions& options, TensorList& device_grads);

/// A new tensor like this one: the result of an elementwise operation on it, or a state of zeros.
Tensor fresh(const char* name, const Tensor& like);
/// torch._foreach_*: a new tensor per entry.
TensorList foreach (const char* name, const TensorList& like);

}  // namespace tidemark
