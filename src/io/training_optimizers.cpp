// transformers: training_args.py, OptimizerNames, and trainer_optimizer.py (5.24.0); axolotl: utils/schemas/enums.py,
// CustomSupportedOptimizers (0.19); torchtune: recipes/configs (0.6.1), whose names are those of classes.
#include "io/training_optimizers.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace tidemark::io {
namespace {

using enum OptimizerName;
using enum OptimizerImpl;

TrainerOptimizer near_adamw(std::string_view name, Takes takes) {
  return {.name = name, .nearest = Nearest{"adamw_torch", takes}};
}

TrainerOptimizer unlike_any(std::string_view name) { return {.name = name, .nearest = Nearest{}}; }

const auto& known() {
  static const std::array kKnown{
      TrainerOptimizer{"adamw_torch", adamw},
      TrainerOptimizer{"adamw_torch_fused", adamw, fused},
      TrainerOptimizer{"sgd", sgd},
      TrainerOptimizer{"adagrad", adagrad},
      TrainerOptimizer{"rmsprop", rmsprop},
      TrainerOptimizer{"torch.optim.adamw", adamw},
      TrainerOptimizer{"torch.optim.adam", adam},
      TrainerOptimizer{"torch.optim.sgd", sgd},
      TrainerOptimizer{"adamw_8bit", adamw_8bit},
      TrainerOptimizer{"adamw_bnb_8bit", adamw_8bit},
      TrainerOptimizer{"paged_adamw_8bit", paged_adamw_8bit},
      TrainerOptimizer{"paged_adamw", paged_adamw_32bit},
      TrainerOptimizer{"paged_adamw_32bit", paged_adamw_32bit},
      TrainerOptimizer{"bitsandbytes.optim.adamw8bit", adamw_8bit},
      TrainerOptimizer{"bitsandbytes.optim.pagedadamw8bit", paged_adamw_8bit},
      TrainerOptimizer{"bitsandbytes.optim.pagedadamw", paged_adamw_32bit},
      TrainerOptimizer{"lion_8bit", lion_8bit},
      TrainerOptimizer{"lion_32bit", lion_32bit},
      TrainerOptimizer{"paged_lion_8bit", paged_lion_8bit},
      TrainerOptimizer{"paged_lion_32bit", paged_lion_32bit},
      TrainerOptimizer{"adafactor", transformers_adafactor},
      near_adamw("ademamix", Takes::less),
      near_adamw("ademamix_8bit", Takes::either),
      near_adamw("paged_ademamix_8bit", Takes::either),
      near_adamw("paged_ademamix_32bit", Takes::either),
      TrainerOptimizer{.name = "rmsprop_bnb", .nearest = Nearest{"rmsprop", Takes::either}},
      TrainerOptimizer{.name = "rmsprop_bnb_8bit", .nearest = Nearest{"rmsprop", Takes::more}},
      TrainerOptimizer{.name = "rmsprop_bnb_32bit", .nearest = Nearest{"rmsprop", Takes::either}},
      // torchao
      near_adamw("adamw_torch_8bit", Takes::more),
      near_adamw("adamw_torch_4bit", Takes::more),
      near_adamw("ao_adamw_8bit", Takes::more),
      near_adamw("ao_adamw_4bit", Takes::more),
      near_adamw("adamw_hf", Takes::either),
      near_adamw("adamw_apex_fused", Takes::either),
      near_adamw("adamw_anyprecision", Takes::more),
      near_adamw("stable_adamw", Takes::either),
      near_adamw("muon", Takes::more),
      unlike_any("lomo"),
      unlike_any("adalomo"),
      unlike_any("galore_adamw"),
      unlike_any("galore_adamw_8bit"),
      unlike_any("apollo_adamw"),
      unlike_any("grokadamw"),
      unlike_any("schedule_free_adamw"),
      unlike_any("schedule_free_sgd"),
  };
  return kKnown;
}

}  // namespace

void set_weight_decay(Spec& spec, double weight_decay) {
  if (is_of_torch(spec.optimizer) && spec.optimizer != adamw) spec.weight_decay = weight_decay;
}

std::optional<TrainerOptimizer> trainer_optimizer(std::string_view name) {
  std::string plain(name);
  std::transform(plain.begin(), plain.end(), plain.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  if (plain.starts_with("optimizernames.")) plain.erase(0, std::string_view("optimizernames.").size());
  const auto found = std::find_if(known().begin(), known().end(),
                                  [&](const TrainerOptimizer& optimizer) { return optimizer.name == plain; });
  if (found == known().end()) return std::nullopt;
  return *found;
}

}  // namespace tidemark::io
