#include "estimate/strategies.h"

#include "base/error.h"
#include "parallel/ddp.h"

namespace tidemark {
namespace {

StepHooks without_strategy(Run&, Module&, const Spec&) {
  StepHooks hooks;
  hooks.begins_settled = true;
  return hooks;
}

}  // namespace

Strategy strategy_of(Parallel parallel) {
  // One line per name of kParallelNames.
  constexpr Strategy kStrategies[] = {
      without_strategy,
      with_ddp,    // ddp
      with_zero,   // zero1
      with_zero,   // zero2
      with_zero3,  // zero3
      with_fsdp1,  // fsdp1
      with_fsdp2,  // fsdp2
      with_ep,     // ep
  };
  static_assert(std::size(kStrategies) == kParallelNames.size());
  return kStrategies[static_cast<int>(parallel)];
}

void refuse(const char* field, const char* message, const char* hint) {
  throw Error(Errc::unsupported, message, field, hint);
}

std::int64_t copies_of(const Spec& spec) {
  return spec.gpus / ((spec.tp ? spec.tp->degree : 1) * (spec.pp ? spec.pp->degree : 1));
}

StepHooks with_ddp(Run& run, Module& root, const Spec& spec) {
  const DdpSpec asked = spec.ddp.value_or(DdpSpec{});
  if (asked.no_sync && asked.static_graph) refuse("ddp.no_sync", "it is not known with static_graph");
  return ddp(run, root,
             {.ranks = copies_of(spec),
              .bucket_cap_mb = asked.bucket_cap_mb,
              .gradient_as_bucket_view = asked.gradient_as_bucket_view,
              .broadcast_buffers = asked.broadcast_buffers,
              .find_unused_parameters = asked.find_unused_parameters,
              .static_graph = asked.static_graph,
              .no_sync = asked.no_sync});
}

}  // namespace tidemark
