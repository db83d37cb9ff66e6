#include "modules.h"

#include <map>
#include <memory>
#include <mutex>

#include "card.h"
#include "device_attributes.h"
#include "fat_binary.h"
#include "handles.h"

namespace tidemark {
namespace {

struct Modules {
  std::mutex mutex;
  std::map<const void*, std::shared_ptr<const MachineCode>> code;
  std::map<const void*, FunctionFacts> functions;
};

Modules& all() {
  static auto* the = new Modules;
  return *the;
}

int own_architecture() { return card().compute_capability_major * 10 + card().compute_capability_minor; }

}  // namespace

void* load_module(const void* data) {
  auto code = std::make_shared<const MachineCode>(machine_code_for_card(data));
  void* module = new_handle();
  const std::lock_guard lock(all().mutex);
  all().code[module] = std::move(code);
  return module;
}

void* module_like(void* module) {
  const std::lock_guard lock(all().mutex);
  void* other = new_handle();
  if (const auto found = all().code.find(module); found != all().code.end()) all().code[other] = found->second;
  return other;
}

void unload_module(void* module) {
  const std::lock_guard lock(all().mutex);
  all().code.erase(module);
}

void* function_of(void* module, const char* name) {
  const std::lock_guard lock(all().mutex);
  FunctionFacts facts{std::nullopt, own_architecture(), card().shared_memory_per_block_bytes};
  if (const auto found = all().code.find(module); found != all().code.end() && !found->second->cubin.empty()) {
    facts.resources = kernel_resources(found->second->cubin, name);
    facts.architecture = found->second->architecture;
    if (facts.resources) facts.dynamic_shared_bytes -= facts.resources->static_shared_bytes;
  }
  void* function = new_handle();
  all().functions[function] = facts;
  return function;
}

FunctionFacts function_facts(const void* function) {
  const std::lock_guard lock(all().mutex);
  const auto found = all().functions.find(function);
  return found == all().functions.end()
             ? FunctionFacts{std::nullopt, own_architecture(), card().shared_memory_per_block_bytes}
             : found->second;
}

void set_dynamic_shared_bytes(const void* function, int bytes) {
  const std::lock_guard lock(all().mutex);
  if (const auto found = all().functions.find(function); found != all().functions.end())
    found->second.dynamic_shared_bytes = bytes;
}

MultiprocessorLimits multiprocessor_limits() {
  const Card& c = card();
  return {attribute(kMaxRegistersPerBlock),         c.registers_per_multiprocessor,
          c.shared_memory_per_multiprocessor_bytes, attribute(kReservedSharedMemoryPerBlock),
          c.max_threads_per_multiprocessor,         attribute(kMaxBlocksPerMultiprocessor)};
}

}  // namespace tidemark
