#include "tensor/engine.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "ops/ops.h"

#include "support/block_sizes.h"

namespace tidemark {
namespace {

struct Engine : testing::Test {
  tidemark::Run run{RunConfig()};
  Tensor parameter(const Dims& sizes) {
    const Setting<Category> category(run.category, Category::parameters);
    Tensor tensor = empty(run, sizes, Dtype::f32);
    tensor.impl().requires_grad = true;
    return tensor;
  }
  std::int64_t live_bytes() { return run.allocator().totals().allocated_bytes; }
};

TEST_F(Engine, TemporariesDieBeforeTheNextOperation) {
  const Tensor x = empty(run, {8}, Dtype::f32);
  const Tensor y = neg(neg(neg(x)));
  EXPECT_EQ(live_bytes(), 2 * kSmallestBlock);
  EXPECT_EQ(run.allocator().stats().allocated_bytes.peak, 3 * kSmallestBlock);  // x, one temporary, one result
}

TEST_F(Engine, KeepsNothingWithoutAParameter) {
  Tensor x = empty(run, {8}, Dtype::f32);
  x = silu(std::move(x));
  EXPECT_FALSE(x.requires_grad());
  EXPECT_EQ(live_bytes(), kSmallestBlock);
}

TEST_F(Engine, KeepsNothingUnderNoGrad) {
  const Tensor w = parameter({8});
  const NoGrad no_grad(run);
  const Tensor y = silu(silu(w));
  EXPECT_EQ(live_bytes(), 2 * kSmallestBlock);
}

TEST_F(Engine, ReleasesWhatWasSavedAsItPasses) {
  const Tensor w = parameter({8});
  Tensor y = silu(silu(silu(w)));
  EXPECT_EQ(live_bytes(), 4 * kSmallestBlock);
  backward(y);
  EXPECT_EQ(live_bytes(), 3 * kSmallestBlock);  // w, its gradient, y
}

TEST_F(Engine, GoesBackFromAPlaceWhoseTensorIsGone) {
  const Tensor w = parameter({8});
  Tensor y = neg(neg(w));
  const Edge place{y.impl().grad_fn, y.impl().output};
  y.reset();
  backward(std::vector<Edge>{place}, {empty(run, {8}, Dtype::f32)});
  EXPECT_TRUE(w.grad());
  EXPECT_EQ(live_bytes(), 2 * kSmallestBlock);
}

TEST_F(Engine, ComputesNothingButTheGradientThatIsAskedFor) {
  const Tensor x = parameter({8, 8}), w = parameter({8, 8});
  const Tensor y = silu(mm(x, w));
  const std::size_t before = run.ledger().size();
  const Tensor gradient = gradient_at(x, y, empty(run, {8, 8}, Dtype::f32));
  EXPECT_EQ(gradient.sizes(), x.sizes());
  EXPECT_FALSE(x.grad() || w.grad());
  std::set<std::string> makers;
  for (std::size_t i = before; i < run.ledger().size(); ++i) makers.insert(run.ledger()[i].op);
  EXPECT_EQ(makers, (std::set<std::string>{"-", "MmBackward0", "SiluBackward0"}));
  std::int64_t kept = 0;
  for (std::size_t i = before; i < run.ledger().size(); ++i) kept += run.ledger()[i].bytes == kSmallestBlock;
  EXPECT_EQ(kept, 3);  // what it began with, silu's gradient and the one of x; not of w
}

TEST_F(Engine, StealsAGradientThatNobodyElseHolds) {
  const Tensor w = parameter({8});
  const Tensor y = neg(w);
  backward(y);
  EXPECT_EQ(live_bytes(), 3 * kSmallestBlock);
  EXPECT_EQ(run.category_of(*w.grad().impl().storage), Category::gradients);
}

TEST_F(Engine, ClonesAGradientThatTwoParametersShare) {
  const Tensor a = parameter({8}), b = parameter({8});
  const Tensor y = add(a, b);
  backward(y);
  EXPECT_FALSE(a.grad().impl().storage == b.grad().impl().storage);
}

TEST_F(Engine, AddsToAnOldGradientInPlace) {
  const Tensor w = parameter({8});
  backward(neg(w));
  const Ref<Storage> first = w.grad().impl().storage;
  backward(neg(w));
  EXPECT_TRUE(w.grad().impl().storage == first);
}

TEST_F(Engine, AddsUpInPlaceOnlyWhenItIsTheSoleOwner) {
  const Tensor w = parameter({8});
  const Tensor x = neg(w);
  const Tensor y = add(x, x);  // one gradient, twice: shared, so the sum is a new tensor
  backward(y);
  EXPECT_EQ(live_bytes(), 4 * kSmallestBlock);
}

TEST_F(Engine, SumsAGradientToWhatWasBroadcast) {
  const Tensor w = parameter({8});
  const Tensor x = empty(run, {4, 8}, Dtype::f32);
  backward(mul(w, x));
  EXPECT_EQ(w.grad().sizes(), (Dims{8}));
}

TEST_F(Engine, CastsAGradientToItsParametersType) {
  Tensor w = empty(run, {8}, Dtype::bf16);
  w.impl().requires_grad = true;
  const Tensor x = empty(run, {8}, Dtype::f32);
  backward(mul(w, x));
  EXPECT_EQ(w.grad().dtype(), Dtype::bf16);
}

TEST_F(Engine, DestroysALongChainWithoutRecursion) {
  const Tensor w = parameter({1});
  Tensor x = w;
  for (int i = 0; i < 200'000; ++i) x = add_scalar(std::move(x));
  x.reset();
  EXPECT_EQ(live_bytes(), kSmallestBlock);
}

TEST_F(Engine, ACheckpointedBlockKeepsItsInputAlone) {
  const Tensor w = parameter({8});
  const Tensor x = neg(w);
  const Tensor y = checkpoint(run, [x] { return silu(silu(silu(x))); })[0];
  EXPECT_EQ(live_bytes(), 3 * kSmallestBlock);  // w, x, y
  backward(y);
  EXPECT_EQ(live_bytes(), 4 * kSmallestBlock);
}

TEST(Runs, AreIndependent) {
  tidemark::Run one{RunConfig()}, other{RunConfig()};
  const Tensor a = empty(one, {8}, Dtype::f32);
  EXPECT_EQ(other.allocator().totals().allocated_bytes, 0);
  EXPECT_EQ(&a.run(), &one);
}

TEST(Runs, RepeatAStretchThatLeavesNothingBehind) {
  tidemark::Run run{RunConfig()};
  const Tensor kept = empty(run, {8}, Dtype::f32);
  const std::size_t begin = run.history().size();
  {
    const Tensor x = empty(run, {1 << 20}, Dtype::f32), y = neg(neg(x));
  }
  const std::size_t end = run.history().size();
  EXPECT_FALSE(run.repetition.is_closed(0, 0));
  EXPECT_TRUE(run.repetition.is_closed(0, begin));
  const Totals before = run.allocator().totals();
  run.repetition.repeat(begin, end);
  EXPECT_EQ(run.allocator().totals(), before);
  EXPECT_EQ(run.history().size(), 2 * end - begin);
  EXPECT_EQ(run.ledger().size(), 7U);
}

TEST(Runs, RepeatAStretchWhoseResultTakesThePlaceOfTheLastOne) {
  const auto after = [](int repetitions, int simulations) {
    tidemark::Run run{RunConfig()};
    const Tensor kept = empty(run, {8}, Dtype::f32);
    Tensor result;
    std::size_t before = 0, begin = 0;
    const auto simulate = [&] {
      before = std::exchange(begin, run.history().size());
      const Tensor x = empty(run, {1 << 20}, Dtype::f32);
      result = neg(neg(x));
    };
    for (int i = 0; i < simulations; ++i) simulate();
    EXPECT_EQ(run.repetition.is_closed(before, begin), simulations > 1);
    EXPECT_EQ(run.repetition.has_heirs(), simulations > 1);
    const std::size_t end = run.history().size(), middle = begin + 2;
    for (int i = 0; i < repetitions; ++i) {
      run.repetition.repeat(begin, middle);
      run.repetition.repeat(middle, end);
    }
    result.reset();
    EXPECT_EQ(run.allocator().totals().allocated_bytes, 512);
    std::vector<std::int64_t> numbers;
    for (const LedgerEntry& entry : run.ledger()) numbers.insert(numbers.end(), {entry.bytes, entry.born, entry.died});
    return std::pair(numbers, run.history());
  };
  EXPECT_EQ(after(3, 2), after(0, 5));
  after(0, 1);  // its result is the first
}

TEST(Runs, DoNotRepeatAStretchThatFreesWhatIsOld) {
  tidemark::Run run{RunConfig()};
  Tensor old = empty(run, {8}, Dtype::f32);
  const std::size_t before = run.history().size();
  Tensor last = empty(run, {8}, Dtype::f32);
  const std::size_t begin = run.history().size();
  old = empty(run, {8}, Dtype::f32);
  EXPECT_FALSE(run.repetition.is_closed(before, begin));
}

std::vector<std::int64_t> curve(const tidemark::Run& run) {
  std::vector<std::int64_t> numbers;
  for (const Timeline::Point& point : run.timeline().points())
    numbers.insert(numbers.end(),
                   {point.event, point.totals.allocated_bytes, point.totals.reserved_bytes, point.totals.active_bytes});
  return numbers;
}

/// The curve and ledger of a run, as integers, and its history.
std::pair<std::vector<std::int64_t>, std::vector<std::int32_t>> curve_and_history(const tidemark::Run& run) {
  std::vector<std::int64_t> numbers = curve(run);
  for (const LedgerEntry& entry : run.ledger()) numbers.insert(numbers.end(), {entry.bytes, entry.born, entry.died});
  return {numbers, run.history()};
}

using Repeat = std::function<void(Repetition&, std::size_t begin, std::size_t end)>;

/// Calls `then` with a run of which a stretch was repeated twice, in two parts each.
void repeat_twice(const Repeat& repeat, const std::function<void(tidemark::Run&)>& then) {
  tidemark::Run run{RunConfig()};
  const Tensor kept = empty(run, {8}, Dtype::f32);
  const auto simulate = [&] {
    const Tensor x = empty(run, {1 << 20}, Dtype::f32), small = neg(empty(run, {8}, Dtype::f32)), y = neg(neg(x));
  };
  simulate();
  const std::size_t begin = run.history().size();
  simulate();
  const std::size_t middle = begin + 4, end = run.history().size();
  EXPECT_TRUE(run.repetition.is_closed(0, begin));
  run.timeline().take_peaks();
  for (int i = 0; i < 2; ++i) {
    repeat(run.repetition, begin, middle);
    repeat(run.repetition, middle, end);
  }
  then(run);
}

void ask(Repetition& repetition, std::size_t begin, std::size_t end) { repetition.repeat(begin, end); }
void repeat_answers(Repetition& repetition, std::size_t begin, std::size_t end) {
  repetition.repeat_answers(begin, end);
}
void pass_over(Repetition& repetition, std::size_t begin, std::size_t end) { repetition.pass_over(begin, end); }

TEST(Runs, RepeatAnswersAsTheAllocatorWouldGiveThem) {
  const auto repeated = [](const Repeat& repeat) {
    decltype(curve_and_history(std::declval<tidemark::Run&>())) all;
    repeat_twice(repeat, [&](const tidemark::Run& run) { all = curve_and_history(run); });
    return all;
  };
  Repetition::LargeAnswers large;
  const auto ask_small = [&](auto& repetition, auto begin, auto end) { repetition.repeat(begin, end, &large); };
  EXPECT_EQ(repeated(repeat_answers), repeated(ask));
  EXPECT_EQ(repeated(ask_small), repeated(ask));
  EXPECT_EQ(large.bytes, 0);
}

TEST(Runs, NeedNotWriteDownWhatIsKnown) {
  std::size_t events = 0;
  const auto repeated = [&](const Repeat& repeat) {
    std::vector<std::int64_t> numbers;
    repeat_twice(repeat, [&](tidemark::Run& run) {
      const Timeline::Peaks peaks = run.timeline().take_peaks();
      numbers = curve(run);
      numbers.insert(numbers.end(), {peaks.allocated_bytes, peaks.reserved_bytes});
      events = run.history().size();
    });
    return numbers;
  };
  const auto expected = repeated(ask);
  const std::size_t all_events = events;
  Repetition::LargeAnswers large{.into_history = false};
  const auto ask_small = [&](auto& repetition, auto begin, auto end) { repetition.repeat(begin, end, &large); };
  EXPECT_EQ(repeated(pass_over), expected);
  EXPECT_LT(events, all_events);
  EXPECT_EQ(repeated(ask_small), expected);
  EXPECT_LT(events, all_events);
  EXPECT_EQ(large.bytes, 0);
}

/// Two steps with a loss that keeps its graph, and with that a leaf and its gradient.
struct LossKeepsItsGraph {
  tidemark::Run run{RunConfig()};
  Tensor loss, leaf;
  bool leaf_is_kept = false;

  void simulate() {
    Tensor x = empty(run, {1 << 20}, Dtype::f32);
    x.impl().requires_grad = true;
    if (leaf_is_kept) leaf = x;
    run.repetition.let_go(std::exchange(loss, silu(x)), loss);
    x.reset();
    backward(loss);
  }
  void both_steps(bool repeat) {
    run.stage.step = 1;
    simulate();
    const std::size_t end = run.history().size();
    EXPECT_TRUE(run.repetition.is_closed_first(0));
    run.stage.step = 2;
    repeat ? run.repetition.repeat(0, end) : simulate();
  }
};

TEST(Runs, RepeatAFirstStepWithWhatItsLossKeeps) {
  const auto after = [](bool repeat) {
    LossKeepsItsGraph two;
    two.both_steps(repeat);
    two.loss.reset();
    EXPECT_EQ(two.run.allocator().totals().allocated_bytes, 0);
    return curve_and_history(two.run);
  };
  EXPECT_EQ(after(true), after(false));
}

TEST(Runs, SeeThatAFirstStepLeftMoreThanItsLossKeeps) {
  LossKeepsItsGraph two;
  two.leaf_is_kept = true;
  EXPECT_THROW(two.both_steps(true), NotRepeatable);
}

TEST(Runs, FullDeviceIsAnOutcome) {
  RunConfig config;
  config.allocator.device = {.total_bytes = 4 << 20, .unavailable_bytes = 0, .context_bytes = 0};
  tidemark::Run run(config);
  try {
    const Tensor x = empty(run, {8 << 20}, Dtype::f32);
    FAIL();
  } catch (const DeviceOutOfMemory& full) {
    EXPECT_EQ(full.requested_bytes, 32 << 20);
    EXPECT_NE(full.message.find("CUDA out of memory"), std::string::npos);
  }
}

}  // namespace
}  // namespace tidemark
