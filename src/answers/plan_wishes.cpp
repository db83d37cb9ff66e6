#include "answers/plan_wishes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "base/error.h"
#include "io/training_write.h"

namespace tidemark::answers {
namespace {

template <std::size_t N>
std::size_t index_of(const std::array<std::string_view, N>& names, const std::string& name, const std::string& where) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  const std::vector<std::string> known(names.begin(), names.end());
  throw Error(Errc::bad_value, fmt::format("{} is not known", Value(name).quoted()), where,
              fmt::format("one of {}", fmt::join(known, ", ")));
}

/// "lora=8|16": a decision, and the values that it may take.
void add_allowed(const std::string& text, plan::Freedom& freedom, plan::Bounds& bounds) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  freedom.allowed.push_back(name);
  if (equals == std::string::npos) return;
  std::vector<std::string>& values = bounds.values[name];
  std::size_t begin = equals + 1;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find('|', begin), text.size());
    values.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

}  // namespace

void check_one_question(const PlanWishes& wishes) {
  if (!wishes.goal.empty() + !wishes.largest.empty() + !wishes.cheapest.empty() + !wishes.checkpointing_under.empty() >
      1)
    throw Error(Errc::usage, "goal, largest, cheapest and checkpointing_under are four questions", "plan",
                "ask one at a time");
}

plan::Question question_of(const Spec& spec, std::int64_t gpus, const PlanWishes& wishes) {
  plan::Question question{.spec = spec,
                          .bounds = {},
                          .freedom = {.fixed = wishes.fix, .allowed = {}},
                          .answers = static_cast<std::size_t>(wishes.answers)};
  question.spec.model = {};
  question.spec.gpus = question.bounds.gpus = gpus;
  question.bounds.gpus_per_node = gpus / wishes.nodes;
  question.spec.gpus_per_node = question.bounds.gpus_per_node;
  question.bounds.samples_per_step = wishes.samples > 0 ? wishes.samples
                                                        : question.spec.batch * question.spec.grad_accumulation *
                                                              plan::data_parallel_ranks(question.spec);
  for (const std::string& trainer : wishes.trainers)
    if (const auto as_trained = io::trained_as_written(trainer, "trainers"))
      question.bounds.trainers.push_back(as_trained);
  for (const std::string& allowed : wishes.allow) add_allowed(allowed, question.freedom, question.bounds);
  return question;
}

plan::Goal goal_of(const std::string& name, const std::string& where) {
  return static_cast<plan::Goal>(index_of(plan::kGoalNames, name.empty() ? "fastest" : name, where));
}

plan::Size size_of(const std::string& name, const std::string& where) {
  return static_cast<plan::Size>(index_of(plan::kSizeNames, name, where));
}

std::int64_t budget_bytes_of(const std::string& text, const std::string& where) {
  if (text == "card") return 0;
  try {
    return parse_bytes(text);
  } catch (const Error& error) {
    throw Error(
        error.code(), error.message(), where,
        error.hint().empty() ? "or say card, for what fits on it" : error.hint() + "; or card, for what fits on it");
  }
}

void check_checkpointing_alone(const PlanWishes& wishes, const std::string& where) {
  if (!wishes.fix.empty() || !wishes.allow.empty() || wishes.samples > 0)
    throw Error(Errc::usage, "all but the checkpointing stays as the options say", where,
                "leave out fix, allow and samples");
}

void PlanWishes::fields(PlanWishes& self, const FieldVisitor& visit) {
  const std::string_view group = "Plan";
  const auto text = [&](std::string_view help, std::string_view placeholder) {
    return FieldInfo{.help = help, .placeholder = placeholder, .group = group};
  };
  const auto whole = [&](std::string_view help, double low, double high) {
    return FieldInfo{.help = help, .placeholder = "N", .group = group, .low = low, .high = high};
  };
  visit("goal", self.goal,
        text("What is best: fastest (when nothing is said), least_memory, smallest_change, or pareto for every trade",
             "GOAL"));
  visit("largest", self.largest, text("Instead: the largest batch, seq or images that fits", "SIZE"));
  visit(
      "checkpointing_under", self.checkpointing_under,
      text(
          "Instead: the layers to checkpoint, and the operators whose results to keep in them, that run least again within this peak, such "
          "as 24GiB, or on the card",
          "BYTES|card"));
  visit(
      "cheapest", self.cheapest,
      FieldInfo{
          .help =
              "Instead: which of these cards trains at the least cost, such as l40s or h100-80gbx8, and what one GPU costs for an hour",
          .placeholder = "CARDS",
          .group = group,
          .low = 0,
          .high = 1e9});
  visit("nodes", self.nodes, whole("Nodes of as many GPUs as gpu says, such as h100-80gbx8", 1, 1 << 16));
  visit("samples", self.samples,
        whole("Samples per optimizer step, over all GPUs (0: what the spec says)", 0, 1 << 30));
  visit("fix", self.fix, text("Decisions that stay as the spec says", "NAMES"));
  visit("allow", self.allow, text("Decisions that change what is learned, and their values: lora=8|64", "NAME[=V|V]"));
  visit("trainers", self.trainers,
        text("Trainers that the answer is for, such as trl: each configuration is what they make of it", "NAMES"));
  visit("margin", self.margin, text("A quantile of measured residuals to keep free, such as p90", "PXX"));
  visit("answers", self.answers, whole("How many are given, the best first", 1, 1000));
}

}  // namespace tidemark::answers
