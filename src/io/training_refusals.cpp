#include "io/training_refusals.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"

namespace tidemark::io {
namespace {

constexpr const char* kRun = "`tidemark run` runs the program itself, whatever it uses";
constexpr const char* kNearest = "--nearest answers with the nearest values";

std::string words_of(const Nearest& nearest) {
  constexpr std::array<const char*, 3> kTakes{"which takes more", "which takes less", "which may take more or less"};
  return fmt::format("{}, {}", nearest.value, kTakes[static_cast<std::size_t>(nearest.takes)]);
}

std::string without_file(const std::string& where, const std::string& file) {
  return where.starts_with(file + ": ") ? where.substr(file.size() + 2) : where;
}

std::string line_of(const Refusal& refusal, const std::string& file) {
  const std::string advice = !refusal.nearest.value.empty() ? "; nearest: " + words_of(refusal.nearest)
                             : !refusal.hint.empty()        ? "; " + refusal.hint
                                                            : "";
  return fmt::format("{}: {}{}", without_file(refusal.where, file), refusal.why, advice);
}

}  // namespace

void Refusals::add(Refusal refusal) {
  const auto same = [&](const Refusal& other) { return other.where == refusal.where && other.why == refusal.why; };
  if (std::none_of(refusals_.begin(), refusals_.end(), same)) refusals_.push_back(std::move(refusal));
}

void Refusals::check(const std::string& file) const {
  if (refusals_.empty()) return;
  const bool all_near = std::all_of(refusals_.begin(), refusals_.end(),
                                    [](const Refusal& refusal) { return !refusal.nearest.value.empty(); });
  const std::string remedy = all_near ? fmt::format("{}; {}", kNearest, kRun) : kRun;
  const Refusal& first = refusals_.front();
  if (refusals_.size() == 1) {
    const std::string nearest = all_near ? fmt::format("nearest: {}; ", words_of(first.nearest)) : "";
    throw Error(Errc::unsupported, first.why, first.where,
                nearest.empty() && !first.hint.empty() ? first.hint : nearest + remedy);
  }
  std::string lines;
  for (const Refusal& refusal : refusals_) lines += "\n  " + line_of(refusal, file);
  throw Error(Errc::unsupported, fmt::format("{} keys are not predicted:{}", refusals_.size(), lines), file, remedy);
}

std::vector<std::string> Refusals::take_nearest(const std::string& file) {
  std::vector<std::string> taken;
  std::erase_if(refusals_, [&](const Refusal& refusal) {
    if (refusal.nearest.value.empty()) return false;
    taken.push_back(
        fmt::format("{}: {}; taken: {}", without_file(refusal.where, file), refusal.why, words_of(refusal.nearest)));
    return true;
  });
  return taken;
}

}  // namespace tidemark::io
