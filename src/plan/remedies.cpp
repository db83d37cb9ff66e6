#include "plan/remedies.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "plan/decision.h"
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
  if (spec.generate > 0 || spec.lora || !spec.freeze.empty() || !spec.train_only.empty()) return false;
  spec.lora.emplace().target_modules = std::string("all-linear");
  return true;
}

bool quantize(Spec& spec) {
  if (spec.quantization || (spec.generate == 0 && !spec.lora && !adapt(spec))) return false;
  spec = decision("quantization", {}).others(spec, {}).front();
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

/// A training that fits on every kind of rank; nothing for one that does not fit, or is not valid.
std::optional<Seen> seen_fitting(const Spec& spec, const Oracle& oracle) {
  try {
    check_spec(spec);
  } catch (const Error&) {
    return std::nullopt;
  }
  Seen seen = oracle.simulate(spec);
  if (seen.fits && oracle.confirm) seen = oracle.confirm(spec);
  return seen.fits ? std::optional(std::move(seen)) : std::nullopt;
}

}  // namespace

std::vector<Remedy> remedies_of(const Spec& spec, const Oracle& oracle, std::size_t most) {
  std::vector<Remedy> found;
  std::vector<Way> that_fit;
  std::vector<Spec> tried{spec};
  const auto is_beyond = [](const Way& way, const Way& enough) {
    return enough.repeated ? way.repeated == enough.repeated : holds_all(way.steps, enough);
  };
  for (const Way& way : ways()) {
    if (found.size() == most) break;
    if (std::any_of(that_fit.begin(), that_fit.end(), [&](const Way& enough) { return is_beyond(way, enough); }))
      continue;
    Spec changed = spec;
    for (const Step step : way.steps) step(changed);
    do {
      if (way.repeated && !way.repeated(changed)) break;
      if (std::find(tried.begin(), tried.end(), changed) != tried.end()) continue;
      tried.push_back(changed);
      if (const auto seen = seen_fitting(changed, oracle)) {
        found.push_back({changes_of(spec, changed), seen->peak.device_bytes});
        that_fit.push_back(way);
        break;
      }
    } while (way.repeated);
  }
  return found;
}

}  // namespace tidemark::plan
