// Recomputed operations under a budget of memory: the search of `tidemark plan --checkpointing-under` beside every k-th
// layer, the chain algorithms and the knapsack, each on the same simulated steps.
//   bench_checkpointing MODELS.jsonl DATA CARD SHARE
// DATA is the folder of gpus.json.  The budget is the peak of full recomputation, and SHARE of the way from there to
// the peak of none.  Every baseline gets the largest budget of its own at which its answer's simulated peak is within
// ours.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <limits>
#include <numeric>

#include "answers/data.h"
#include "answers/question.h"
#include "base/bytes.h"
#include "base/error.h"
#include "card_choice.h"
#include "io/spec_json.h"
#include "io/value_json.h"
#include "plan/checkpointing.h"

using namespace tidemark;
using namespace tidemark::plan;

namespace {

/// The step of one model: what its layers cost, and the peak of any choice.
struct Step {
  Question question;
  Engine engine;
  LayerWork work = layer_work(question.spec, engine);

  std::size_t layers() const { return work.costs.size(); }
  LayerChoice none() const { return choice_of(std::vector<bool>(layers()), {}); }
  LayerChoice all() const { return choice_of(std::vector<bool>(layers(), true), {}); }
  LayerChoice choice_of(std::vector<bool> checkpointed, const std::vector<std::size_t>& operators) const {
    LayerChoice choice{checkpointed, std::vector<bool>(layers()), std::vector<bool>(work.operators.size())};
    if (!operators.empty()) choice.keeping = checkpointed;
    for (const std::size_t one : operators) choice.kept[one] = true;
    return choice;
  }
  std::int64_t peak(const LayerChoice& choice) const {
    return make_oracle(engine).simulate(with_choice(question.spec, work, choice)).peak.device_bytes;
  }
  /// What a layer writes, as far as a chain algorithm knows what it holds.
  double holds(std::size_t layer) const {
    return work.again[layer].all.written_bytes +
           std::accumulate(work.costs[layer].operator_bytes.begin(), work.costs[layer].operator_bytes.end(), 0.0);
  }
};

/// The last answer, from the freest budget of a baseline on, whose peak is within the budget.
LayerChoice within(const Step& step, std::int64_t budget, int budgets,
                   const std::function<LayerChoice(double share)>& answer) {
  for (int i = budgets; i >= 0; --i) {
    const LayerChoice choice = answer(static_cast<double>(i) / budgets);
    if (step.peak(choice) <= budget) return choice;
  }
  return step.all();
}

LayerChoice every_k(const Step& step, std::int64_t budget) {
  const auto most = static_cast<int>(step.layers());
  return within(step, budget, most - 1, [&](double share) {
    const auto k = static_cast<std::size_t>(1 + share * (most - 1) + 0.5);
    std::vector<bool> layers(step.layers());
    for (std::size_t i = 0; i < layers.size(); i += k) layers[i] = true;
    return step.choice_of(layers, {});
  });
}

constexpr double kInputShare = 1.0 / 16;  // of a layer that has run, what is held of one that runs again

double chain_peak(const Step& step, const std::vector<bool>& layers) {
  double held = 0, peak = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    peak = std::max(peak, held + step.holds(i));
    held += step.holds(i) * (layers[i] ? kInputShare : 1);
  }
  return peak;
}

/// arXiv 2502.12499 on segments of one layer: the subset of least peak, by one walk from the last layer on: a layer is
/// kept whole where that does not raise the peak of those behind it.
LayerChoice least_peak(const Step& step) {
  std::vector<bool> layers(step.layers(), true);
  double least = chain_peak(step, layers);
  for (std::size_t i = step.layers(); i-- > 0;) {
    layers[i] = false;
    const double peak = chain_peak(step, layers);
    if (peak > least) {
      layers[i] = true;
      break;
    }
    least = peak;
  }
  return step.choice_of(layers, {});
}

/// Rotor (arXiv 1911.13214) on segments of one layer: the least time of a chain by memory in slots, by dynamic
/// programming from the last layer on.
LayerChoice rotor(const Step& step, std::int64_t budget) {
  constexpr int kSlots = 500, kBudgets = 100;
  const double low = chain_peak(step, std::vector<bool>(step.layers(), true));
  const double high = chain_peak(step, std::vector<bool>(step.layers()));
  return within(step, budget, kBudgets, [&](double share) {
    const double memory = low + (high - low) * share;
    const auto slots_of = [&](double bytes) { return static_cast<std::size_t>(bytes / high * kSlots); };
    const std::size_t slots = slots_of(memory) + 1, n = step.layers();
    constexpr double kNever = std::numeric_limits<double>::infinity();
    // By layer and slots that are taken before it: the least time from there on, and whether the layer runs again.
    std::vector<std::vector<std::pair<double, bool>>> best(n + 1, std::vector<std::pair<double, bool>>(slots));
    for (std::size_t layer = n; layer-- > 0;)
      for (std::size_t taken = 0; taken < slots; ++taken) {
        const std::size_t whole = taken + slots_of(step.holds(layer));
        const std::size_t input = taken + slots_of(step.holds(layer) * kInputShare);
        best[layer][taken] = {kNever, true};
        if (whole >= slots) continue;
        best[layer][taken] = {best[layer + 1][input].first + step.work.costs[layer].seconds, true};
        if (best[layer + 1][whole].first < best[layer][taken].first)
          best[layer][taken] = {best[layer + 1][whole].first, false};
      }
    std::vector<bool> layers(n, true);
    for (std::size_t layer = 0, taken = 0; layer < n && best[0][0].first < kNever; ++layer) {
      layers[layer] = best[layer][taken].second;
      taken += slots_of(step.holds(layer) * (layers[layer] ? kInputShare : 1));
    }
    return step.choice_of(layers, {});
  });
}

/// torch/_functorch/partitioners.py, activation_memory_budget: results of operators by what they spare for their bytes,
/// as many as a share of all bytes holds; the same in all layers, but for the last operator that goes in.
LayerChoice knapsack(const Step& step, std::int64_t budget) {
  constexpr int kBudgets = 100;
  const std::size_t operators = step.work.operators.size();
  std::vector<double> seconds(operators), bytes(operators);
  for (const LayerCost& cost : step.work.costs)
    for (std::size_t one = 0; one < operators; ++one) {
      seconds[one] += cost.operator_seconds[one];
      bytes[one] += cost.operator_bytes[one];
    }
  std::vector<std::size_t> order(operators);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t one) { return -seconds[one] / std::max(bytes[one], 1.0); });
  const double all = std::accumulate(bytes.begin(), bytes.end(), 0.0);
  return within(step, budget, kBudgets, [&](double share) {
    double room = all * share;
    std::vector<std::size_t> taken;
    for (const std::size_t one : order) {
      if (bytes[one] > room) {
        if (!taken.empty()) break;
        LayerChoice part = step.choice_of(std::vector<bool>(step.layers(), true), {one});
        for (std::size_t layer = 0; layer < step.layers(); ++layer) {
          room -= step.work.costs[layer].operator_bytes[one];
          part.keeping[layer] = room >= 0;
        }
        if (std::ranges::find(part.keeping, true) == part.keeping.end()) return step.all();
        return part;
      }
      room -= bytes[one];
      taken.push_back(one);
    }
    return step.choice_of(std::vector<bool>(step.layers(), true), taken);
  });
}

std::string cell(const Step& step, const LayerChoice& choice, std::int64_t budget) {
  const std::string text = fmt::format("{:.1f}", again_of(step.work, choice).flops / 1e12);
  return step.peak(choice) <= budget ? text : "(" + text + ")";
}

void row(const std::string& name, const Step& step, double share) {
  const std::int64_t low = step.peak(step.all()), high = step.peak(step.none());
  const std::int64_t budget = low + static_cast<std::int64_t>(static_cast<double>(high - low) * share);
  const auto start = std::chrono::steady_clock::now();
  const CheckpointingPlan found = plan_checkpointing(step.question, budget, step.engine);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fmt::print("| {} | {} | {} | {} | {} | {} | {} | {} | **{:.1f}** | {} | {:.2f} s |\n", name, step.layers(),
             format_bytes(budget), cell(step, step.all(), budget), cell(step, every_k(step, budget), budget),
             cell(step, least_peak(step), budget), cell(step, rotor(step, budget), budget),
             cell(step, knapsack(step, budget), budget), found.again.flops / 1e12, found.plan.simulated, seconds);
  std::fflush(stdout);
}

Step step_of(const Value& model, const std::string& card, const char* data) {
  Step step{.question = {.spec = read_spec(*model.find("spec")), .bounds = {}, .freedom = {}},
            .engine = {.model_config = {},
                       .card = cli::choose_card(card, "", data, "auto"),
                       .programs = {},
                       .keep_margin = {}},
            .work = {}};
  step.engine.model_config = step.question.spec.model;
  step.engine.programs = answers::programs_at_hand(
      step.question.spec, answers::data_of_folder(data, "", answers::ReadPrograms::when_asked).programs);
  step.engine = without_end(step.engine);
  step.work = layer_work(step.question.spec, step.engine);
  return step;
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 5) throw Error(Errc::usage, "bench_checkpointing MODELS.jsonl DATA CARD SHARE");
  std::ifstream models(arguments[1]);
  if (!models) throw Error(Errc::not_found, "no such file", arguments[1]);
  fmt::print(
      "| model | layers | budget | all | every k-th | least peak | Rotor | knapsack | tidemark | simulations | decided in |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (std::string line; std::getline(models, line);) {
    const Value model = io::value_from_json(line, arguments[1]);
    row(*model.find("name")->as_text(), step_of(model, arguments[3], arguments[2]), std::stod(arguments[4]));
  }
} catch (const Error& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 2;
}
