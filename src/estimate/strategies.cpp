#include "estimate/strategies.h"

#include "base/error.h"
#include "parallel/ddp.h"

namespace tidemark {

Strategy strategy_of(Parallel parallel) {
  // One line per name of kParallelNames.
  constexpr Strategy kStrategies[] = {
      [](Run&, Module&, const Spec&) { return StepHooks{}; },
      with_ddp,   // ddp
      with_zero,  // zero1
      with_zero,  // zero2
      with_ep,    // ep
  };
  static_assert(std::size(kStrategies) == kParallelNames.size());
  return kStrategies[static_cast<int>(parallel)];
}

void refuse(const char* field, const char* message, const char* hint) {
  throw Error(Errc::unsupported, message, field, hint);
}

StepHooks with_ddp(Run& run, Module& root, const Spec& spec) {
  const DdpSpec asked = spec.ddp.value_or(DdpSpec{});
  return ddp(run, root,
             {.ranks = spec.gpus / (spec.tp ? spec.tp->degree : 1),
              .bucket_cap_mb = asked.bucket_cap_mb,
              .gradient_as_bucket_view = asked.gradient_as_bucket_view,
              .broadcast_buffers = asked.broadcast_buffers,
              .find_unused_parameters = asked.find_unused_parameters,
              .static_graph = asked.static_graph});
}

}  // namespace tidemark
