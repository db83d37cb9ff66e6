#include "tensor/kernel.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "tensor/run.h"

namespace tidemark {
namespace {

/// What a block keeps of the operator, if it was asked to.
CheckpointFrame* keeper_of(const Run& run, std::string_view name) {
  CheckpointFrame* frame = run.checkpoint;
  if (!frame || !frame->save) return nullptr;
  return std::ranges::find(*frame->save, name) != frame->save->end() ? frame : nullptr;
}

}  // namespace

Kernel::Kernel(Run& run, const char* name) : run_(run), name_(name), is_outermost_(run.kernel == nullptr) {
  if (!is_outermost_) return;
  run.kernel = this;
  if (!run.checkpoint) return;
  const std::string_view text = name;
  if (std::ranges::find(run.kernels, text) == run.kernels.end()) run.kernels.push_back(text);
  if (run.work) before_ = run.work->so_far();
  keeper_ = keeper_of(run, text);
  if (!keeper_ || !keeper_->recomputing || keeper_->is_complete(run.beginning.number)) return;
  CheckpointFrame::Kept& kept = keeper_->kept[name];
  TM_CHECK(kept.next < kept.results.size(), "a checkpointed block ran an operator once more when it ran again");
  kept_ = std::move(kept.results[kept.next++]);
  handed_out_ = true;
}

Kernel::~Kernel() {
  if (is_outermost_) run_.kernel = nullptr;
}

/// torch: _VersionWrapper.get_val
Ref<Storage> Kernel::hand_out() {
  Ref<Storage> storage;
  if (run_.category != Category::workspace) {
    TM_CHECK(next_ < kept_.made.size(), "an operator makes more when it runs again");
    storage = std::move(kept_.made[next_]);
    if (storage && storage->version != kept_.versions[next_])
      throw Error(Errc::unsupported,
                  fmt::format("what {} gives is written over, which torch raises an error for", name_),
                  "checkpoint_save", fmt::format("leave {} out", name_));
    ++next_;
  }
  if (storage) return storage;
  Ref<Storage> nothing(run_.storages.make());
  nothing->run = &run_;
  return nothing;
}

void Kernel::note(const Storage& made) {
  if (keeper_ && !handed_out_ && run_.category != Category::workspace) made_.push_back(made.record);
}

void Kernel::count_again(std::initializer_list<const Tensor*> results) {
  LayerAgain::Operator& counted = run_.work->again[run_.checkpoint->layer].operators[name_];
  counted.again += done_since(*run_.work, before_);
  for (const Tensor* result : results)
    if (*result) counted.result_bytes += static_cast<double>(run_.bytes_of(*result->impl().storage));
}

/// What else was made is the operator's own.
void Kernel::gives(std::initializer_list<const Tensor*> results) {
  if (!is_outermost_) return;
  if (run_.work && run_.checkpoint && run_.checkpoint->recomputing && !handed_out_) count_again(results);
  if (!keeper_ || keeper_->recomputing) return;
  KeptResults kept;
  for (const std::uint32_t entry : made_) {
    const auto found = std::ranges::find_if(results, [&](const Tensor* result) {
      return *result && result->impl().storage->id != kNoBytes && result->impl().storage->record == entry;
    });
    kept.made.push_back(found == results.end() ? Ref<Storage>() : (*found)->impl().storage);
    kept.versions.push_back(kept.made.back() ? kept.made.back()->version : 0);
  }
  keeper_->kept[name_].results.push_back(std::move(kept));
}

bool has_dispatch_mode(const Run& run) { return run.checkpoint && run.checkpoint->save; }

}  // namespace tidemark
