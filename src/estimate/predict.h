// The second engine: the training step of a Spec, simulated without PyTorch, told as the same Report.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "estimate/report.h"
#include "estimate/spec.h"
#include "memory/card.h"
#include "tensor/run.h"

namespace tidemark {

struct Program;

struct PredictOptions {
  /// Gets each allocation and free as it happens: "+bytes operation module" or "-bytes operation module", without a
  /// line end.
  std::function<void(std::string_view line)> on_event;
  /// Whether the interval that addresses and other streams leave open is found too, by playing all requests again.
  bool interval = true;
  /// Told what the allocator does where work on other streams is over only when the program waits for it; not owned.
  AllocatorObserver* late = nullptr;
  /// The model as it was captured, in one way or several.
  std::span<const Program> programs = {};
  /// Whether steps that are known to repeat are repeated, instead of simulated (Note [Steps that repeat]).
  bool repeat_steps = true;
  /// Backward passes of the first step after which it ends, so that the report is of how the program begins; 0: all of
  /// it.
  std::int64_t passes = 0;
  /// Whether the report will be read: it gets its question, and the categories of its timeline.
  bool is_read = false;
  /// Counts what the steps compute, which are all simulated then; not owned.
  Work* work = nullptr;
  /// Asked of convolutions that no table has; empty: they are refused.
  AskCudnn ask_cudnn = {};
  /// Gets what each module holds once the model is loaded, adapters included; not owned.
  std::vector<NamedBytes>* loaded = nullptr;
};

/// `model_config` is the model's config.json; its programs bring theirs.  The report comes back judged.  Throws
/// Error{unsupported} for what is known and not simulated, Error{unknown_name} and Error{bad_value} for what is wrong
/// in either.
Report predict(const Spec& spec, const Value& model_config, const Card& card, const PredictOptions& options = {});

/// Throws Error{unsupported} where the program does not tell of image towers what the spec's way of training asks of
/// them.
void check_towers(const Spec& spec, const Program& program);

struct OpInfo {
  std::string name;
  std::string mirrors;  // what it follows, in PyTorch
};
std::vector<OpInfo> known_ops();

}  // namespace tidemark
