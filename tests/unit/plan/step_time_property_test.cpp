// More work never takes less, and a faster card never more.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "estimate/asked.h"
#include "plan/step_time.h"

namespace tidemark::plan {
namespace {

PassWork some_pass() {
  PassWork pass;
  pass.work.products[{true, 2048, 4096, 4096}] = 3000;
  pass.work.parameter_bytes = pass.work.trained_bytes = 8'000'000'000;
  pass.layers = 32;
  pass.hidden_size = 4096;
  return pass;
}

double seconds_of(const Spec& spec, const PassWork& work, const Card& on) {
  const Efficiency plain;
  return step_time(spec, work, {on, plain}).seconds;
}
Spec any_spec() {
  using enum Parallel;
  const auto gpus = *rc::gen::element<std::int64_t>(1, 2, 8, 16, 64);
  Spec spec;
  spec.seq = 2048;
  spec.gpus = gpus;
  spec.parallel = gpus == 1 ? none : *rc::gen::element(ddp, zero1, zero2, zero3, fsdp1, fsdp2);
  spec.gpus_per_node = std::min<std::int64_t>(gpus, *rc::gen::element<std::int64_t>(1, 8));
  spec.batch = *rc::gen::inRange<std::int64_t>(1, 9);
  spec.grad_accumulation = *rc::gen::inRange<std::int64_t>(1, 5);
  return spec;
}

PassWork any_pass() {
  PassWork work = some_pass();
  work.work.products[{true, static_cast<double>(*rc::gen::inRange(1, 60000)), 512, 777}] = *rc::gen::inRange(1, 100);
  work.work.attention_flops[{false, 128, 2048}] = *rc::gen::inRange(0, 1000) * 1e9;
  work.work.forward_bytes = *rc::gen::inRange(0, 1000) * 1e9;
  work.work.operations = *rc::gen::inRange<std::int64_t>(0, 100000);
  return work;
}

RC_GTEST_PROP(StepTime, IsNeverLessForMoreWork, ()) {
  const Spec spec = any_spec();
  const PassWork less = any_pass();
  PassWork more = less;
  switch (*rc::gen::inRange(0, 4)) {
    case 0: more.work.products[{true, 100, 200, 300}] += 5; break;
    case 1: more.work.attention_flops[{true, 64, 512}] += 1e9; break;
    case 2: more.work.backward_bytes += 1e9; break;
    default:  // parameters are among what is there in the forward pass
      for (auto* bytes : {&more.work.trained_bytes, &more.work.parameter_bytes}) *bytes += 1 << 20;
      more.work.forward_bytes += 1 << 20;
  }
  RC_ASSERT(seconds_of(spec, more, h100_with_room()) >= seconds_of(spec, less, h100_with_room()) * (1 - 1e-12));
}

RC_GTEST_PROP(StepTime, IsNeverMoreOnAFasterCard, ()) {
  const Spec spec = any_spec();
  const PassWork work = any_pass();
  Card faster = h100_with_room();
  const auto times = *rc::gen::inRange<std::int64_t>(1, 5);
  switch (*rc::gen::inRange(0, 3)) {
    case 0: faster.memory_bandwidth_bytes_per_s *= times; break;
    case 1: faster.link.bytes_per_s *= times; break;
    default: faster.bf16_flops *= times; break;
  }
  RC_ASSERT(seconds_of(spec, work, faster) <= seconds_of(spec, work, h100_with_room()) * (1 + 1e-12));
}

RC_GTEST_PROP(ProductTimes, AreNeverLessForALargerProduct, ()) {
  std::vector<double> shares;
  for (int i = 0; i < 8; ++i) shares.push_back(*rc::gen::inRange(1, 101) / 100.0);
  const ProductTimes any({{{64, 1024}, {64, 1024}, {64, 1024}}}, shares);
  const auto side = [] { return static_cast<double>(*rc::gen::inRange(1, 5000)); };
  const ProductShape less{true, side(), side(), side()};
  ProductShape more = less;
  (*rc::gen::arbitrary<bool>() ? more.m : *rc::gen::arbitrary<bool>() ? more.n : more.k) += side();
  RC_ASSERT(any.peak_flops(more) >= any.peak_flops(less) * (1 - 1e-12));
}

}  // namespace
}  // namespace tidemark::plan
