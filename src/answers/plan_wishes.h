// What a plan is asked beside the training: what is best, what may change.  The fields are keys of a question's "plan".
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "plan/checkpointing.h"
#include "plan/largest.h"
#include "plan/plan.h"

namespace tidemark::answers {

struct PlanWishes {
  std::string goal, largest, checkpointing_under;  // of these one at most; none: the fastest
  std::map<std::string, double> cheapest;          // likewise: cards by name, and what one costs for an hour
  std::int64_t nodes = 1, samples = 0, answers = 3;
  std::vector<std::string> fix, allow;
  std::vector<std::string> trainers;
  std::string margin;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit);
};

/// Throws Error{usage} where more than one thing is asked.
void check_one_question(const PlanWishes& wishes);

/// `spec` is what would be run now, `gpus` how many there are, over all nodes.  Throws Error.
plan::Question question_of(const Spec& spec, std::int64_t gpus, const PlanWishes& wishes);

plan::Goal goal_of(const std::string& name, const std::string& where);
plan::Size size_of(const std::string& name, const std::string& where);
/// "24GiB", or "card": 0, for what fits on it.
std::int64_t budget_bytes_of(const std::string& text, const std::string& where);
/// Of a plan of layers to checkpoint everything else stays as it is.
void check_checkpointing_alone(const PlanWishes& wishes, const std::string& where);

template <class Self, class Visit>
void PlanWishes::fields(Self& self, Visit&& visit) {
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
