#include "cudnn_plan.h"

#include <map>
#include <mutex>

namespace tidemark::cudnn {
namespace {

struct Plan {
  Descriptor config;
  bool unbuilt = false;
  std::int64_t workspace_bytes = 0;
};

struct Plans {
  std::mutex mutex;
  std::map<Descriptor, Plan> by_descriptor;
};

Plans& plans() {
  static auto* all = new Plans;
  return *all;
}

bool compiles_at_run_time(const Real& r, Descriptor config) {
  Descriptor engine = nullptr;
  if (r.create(kEngineDescriptor, &engine) != kSuccess) return false;
  int notes[16];
  std::int64_t count = 0;
  bool found = false;
  if (r.get(config, attribute::kConfigEngine, type::kDescriptor, 1, &count, &engine) == kSuccess &&
      r.get(engine, attribute::kEngineBehaviorNote, type::kBehaviorNote, 16, &count, notes) == kSuccess)
    for (std::int64_t i = 0; i < count && i < 16; ++i) found = found || notes[i] == kRuntimeCompilation;
  r.destroy(engine);
  return found;
}

}  // namespace

void note_plan(Descriptor plan, Descriptor config) {
  const std::lock_guard lock(plans().mutex);
  plans().by_descriptor[plan] = {config};
}

bool leave_unbuilt(const Real& r, Descriptor plan) {
  const std::lock_guard lock(plans().mutex);
  const auto found = plans().by_descriptor.find(plan);
  if (found == plans().by_descriptor.end() || !compiles_at_run_time(r, found->second.config)) return false;
  std::int64_t count = 0;
  if (r.get(found->second.config, attribute::kConfigWorkspaceSize, type::kInt64, 1, &count,
            &found->second.workspace_bytes) != kSuccess)
    return false;
  return found->second.unbuilt = true;
}

bool unbuilt_workspace(Descriptor plan, std::int64_t* bytes) {
  const std::lock_guard lock(plans().mutex);
  const auto found = plans().by_descriptor.find(plan);
  if (found == plans().by_descriptor.end() || !found->second.unbuilt) return false;
  *bytes = found->second.workspace_bytes;
  return true;
}

void forget_plan(Descriptor plan) {
  const std::lock_guard lock(plans().mutex);
  plans().by_descriptor.erase(plan);
}

}  // namespace tidemark::cudnn
