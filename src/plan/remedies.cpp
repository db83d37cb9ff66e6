#include "plan/remedies.h"

#include <algorithm>

#include "plan/plan.h"

namespace tidemark::plan {
namespace {

constexpr std::int64_t kShortest = 256;  // tokens; shorter samples are no use

bool expand_segments(Spec& spec) {
  if (!spec.allocator.empty()) return false;
  spec.allocator = "expandable_segments:True";
  return true;
}

bool checkpoint(Spec& spec) {
  if (spec.checkpointing != Checkpointing::none) return false;
  spec.checkpointing = Checkpointing::non_reentrant;
  return true;
}

bool adapt(Spec& spec) {
  if (spec.lora || !spec.freeze.empty() || !spec.train_only.empty()) return false;
  spec.lora.emplace().target_modules = std::string("all-linear");
  return true;
}

bool quantize(Spec& spec) {
  if (spec.quantization || (!spec.lora && !adapt(spec))) return false;
  QuantizationSpec& quantization = spec.quantization.emplace();
  quantization.quant_type = QuantType::nf4;
  quantization.use_double_quant = true;
  quantization.compute_dtype = WeightDtype::bf16;
  return true;
}

bool halve_batch(Spec& spec) {
  spec.batch /= 2;
  return spec.batch >= 1;
}

bool halve_tokens(Spec& spec) {
  spec.seq /= 2;
  return spec.seq >= kShortest;
}

using Step = bool (*)(Spec&);

struct Way {
  std::vector<Step> steps;
  Step repeated = nullptr;  // until it fits, or cannot be done any more
};

/// Cheap changes first: memory alone, then time, the size of steps, the trained parameters.
const std::vector<Way>& ways() {
  static const std::vector<Way> kWays{{{expand_segments}},
                                      {{checkpoint}},
                                      {{checkpoint, expand_segments}},
                                      {{}, halve_batch},
                                      {{checkpoint, expand_segments}, halve_batch},
                                      {{adapt}},
                                      {{adapt, checkpoint, expand_segments}},
                                      {{quantize}},
                                      {{quantize, checkpoint, expand_segments}},
                                      {{quantize, checkpoint, expand_segments}, halve_batch},
                                      {{checkpoint, expand_segments}, halve_tokens}};
  return kWays;
}

bool holds_all(const std::vector<Step>& steps, const Way& of) {
  return std::all_of(of.steps.begin(), of.steps.end(),
                     [&](Step step) { return std::find(steps.begin(), steps.end(), step) != steps.end(); });
}

}  // namespace

std::vector<Remedy> remedies_of(const Spec& spec, const FittingBytes& fitting_bytes, std::size_t most) {
  std::vector<Remedy> found;
  std::vector<Way> that_fit;
  for (const Way& way : ways()) {
    if (found.size() == most) break;
    const bool is_more = std::any_of(that_fit.begin(), that_fit.end(),
                                     [&](const Way& other) { return !other.repeated && holds_all(way.steps, other); });
    const bool is_again = way.repeated && std::any_of(that_fit.begin(), that_fit.end(),
                                                      [&](const Way& other) { return other.repeated == way.repeated; });
    Spec changed = spec;
    bool is_new = way.repeated != nullptr;
    for (const Step step : way.steps) is_new |= step(changed);
    if (is_more || is_again || !is_new) continue;
    do {
      if (way.repeated && !way.repeated(changed)) break;
      if (const auto bytes = fitting_bytes(changed)) {
        const Value change = changes_of(spec, changed);
        const bool is_known =
            std::any_of(found.begin(), found.end(), [&](const Remedy& one) { return one.change == change; });
        if (!is_known) found.push_back({change, *bytes});
        that_fit.push_back(way);
        break;
      }
    } while (way.repeated);
  }
  return found;
}

}  // namespace tidemark::plan
