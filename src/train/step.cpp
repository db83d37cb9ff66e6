#include "train/step.h"

#include "tensor/second_forward.h"
#include "train/loop.h"

namespace tidemark {
namespace {

/// What an allocator answers from while it does not go to the driver, and how often it has been there.
struct AllocatorState {
  std::vector<CachingAllocator::BlockView> blocks;
  std::int64_t driver_calls = 0, large_pool_driver_calls = 0;
  bool operator==(const AllocatorState&) const = default;
};

AllocatorState state_of(const CachingAllocator& allocator) {
  const AllocatorStats& stats = allocator.stats();
  AllocatorState state{allocator.snapshot(), stats.num_device_alloc + stats.num_device_free,
                       allocator.large_pool_driver_calls()};
  for (CachingAllocator::BlockView& block : state.blocks)
    if (!block.active) block.requested_bytes = 0;  // what was asked of it when it was in use decides nothing
  return state;
}

/// The part of it that requests of more than the small pool's size are answered from.
AllocatorState large_pool_of(AllocatorState state) {
  state.driver_calls = state.large_pool_driver_calls;
  std::erase_if(state.blocks, [](const CachingAllocator::BlockView& block) { return block.small; });
  return state;
}

/// One step, as far as others may repeat it.
struct Template {
  std::size_t begin = 0;                                  // its first event
  std::vector<std::pair<StepPhase, std::size_t>> phases;  // and the event with which each ends
  AllocatorState before;
  bool repeats = false, answers_repeat = false, large_answers_repeat = false;
};

/// Note [Steps that repeat]
/// When a step leaves nothing behind and frees nothing older, but that the loss, say, takes the place of the last one,
/// then the next begins with the same live tensors and asks for the same memory in the same order, whatever the
/// allocator then does with it: its requests are repeated without making tensors again. When the allocator, too, stands
/// after that step where it stood before it, and has not been to the driver in between, it would give the next step the
/// same answers: it is not asked again.  A loss that takes the place of the last one lies elsewhere than that, but is
/// small: the large pool, which knows nothing of the small one, often stands where it stood all the same, and then it
/// is the small pool alone that is asked.  Either way nothing rises higher than it did, so that such a step need not
/// come into the history.
///
/// A first step also makes what all others find: workspaces and the optimizer's state, in the scope of a Once.  Where a
/// strategy, if there is one, has nothing to learn, and all else that the step leaves behind are tensors that the next
/// one lets go of at known places (Repetition::let_go), the second repeats it without the ones and with the others.
/// What goes with such a tensor, as with a loss its graph, and with that the leaves among activations, is not told
/// before: it goes for real when the second step comes by the place.  If that is not all, nothing is repeated
/// (NotRepeatable).
class Steps {
 public:
  Steps(Run& run, Loop loop, const StepOptions& options, const PhaseObserver& observer)
      : run_(run), loop_(std::move(loop)), options_(options), observer_(observer) {}

  void run_all() {
    for (std::int64_t step = 1; step <= options_.steps; ++step) {
      run_.stage.step = step;
      if (step > 2 && last_.repeats)
        repeat(last_, [&](StepPhase phase) { observer_(step, phase); });
      else
        make_template(step);
    }
  }

 private:
  /// What frees are told with is not kept.
  bool first_may_repeat() const { return options_.hooks.begins_settled && !run_.config().on_event; }

  /// A step that the next may repeat.
  void make_template(std::int64_t step) {
    const bool may_repeat = options_.repeat_steps && step < options_.steps && (step >= 2 || first_may_repeat());
    const Template before = std::exchange(last_, {.begin = run_.history().size(), .phases = {}, .before = {}});
    if (may_repeat && step >= 2) last_.before = state_of(run_.allocator());
    const PhaseEnds phase_ends = [&](StepPhase phase) {
      last_.phases.emplace_back(phase, run_.history().size());
      observer_(step, phase);
      if (phase == StepPhase::backward && ++passes_ == options_.passes) throw EnoughPasses{};
    };
    before.repeats ? repeat(before, phase_ends) : loop_(phase_ends);
    if (!may_repeat || (options_.hooks.is_settled && !options_.hooks.is_settled())) return;
    if (step == 1) {
      last_.repeats = run_.repetition.is_closed_first(last_.begin);
      return;
    }
    last_.repeats = run_.repetition.is_closed(before.begin, last_.begin);
    if (!last_.repeats) return;
    const AllocatorState after = state_of(run_.allocator());
    last_.answers_repeat = !run_.repetition.has_heirs() && after == last_.before;
    // Where ages count, it matters how often the allocator was asked: they decide what it collects.
    const bool ages_count = run_.config().allocator.settings.garbage_collection_threshold > 0;
    last_.large_answers_repeat = !ages_count && large_pool_of(after) == large_pool_of(last_.before);
  }

  void repeat(const Template& step, const PhaseEnds& phase_ends) {
    Repetition::LargeAnswers large{.into_history = run_.config().keeps_history};
    for (std::size_t from = step.begin; const auto& [phase, end] : step.phases) {
      run_.stage.part = static_cast<int>(phase);
      if (step.answers_repeat)
        large.into_history ? run_.repetition.repeat_answers(from, end) : run_.repetition.pass_over(from, end);
      else
        run_.repetition.repeat(from, end, step.large_answers_repeat ? &large : nullptr);
      phase_ends(phase);
      from = end;
    }
  }

  Run& run_;
  Loop loop_;
  const StepOptions& options_;
  const PhaseObserver& observer_;
  Template last_;
  std::int64_t passes_ = 0;
};

}  // namespace

void train(Run& run, Model& model, Model* reference, const BatchSizes& sizes, Optimizer& optimizer,
           const StepOptions& options, const PhaseObserver& observer) {
  if (options.repeat_steps && !run.config().on_event) repeat_second_forwards(run);
  const Setting on_gradient(run.on_gradient, options.hooks.gradient_is_ready);
  const Setting dropout_modules(run.dropout_modules_off, is_of_preferences(options.loop));  // TRL's disable_dropout
  const Training training{run, model, reference, sizes, optimizer, options};
  Steps(run, options.loop != LoopKind::plain ? trainer_loop(training) : plain_loop(training), options, observer)
      .run_all();
}

}  // namespace tidemark
