// What else could have been true: the recorded requests once more, through PyTorch's own allocator, on a card whose addresses run
// the other way.  Equal free blocks are taken by address, so the order in which the driver hands out addresses moves peaks.
//
// A program of its own (it needs libc10_cuda and no more of PyTorch): `tidemark_replay EVENTS [MEMORY_FRACTION]` prints
// "allocated_peak reserved_peak", or "out of memory"; the card is the one that TIDEMARK_CARD names.
#include <c10/cuda/CUDACachingAllocator.h>

#include <cstdio>
#include <cstdlib>
#include <unordered_map>
#include <vector>

#include "../torch_extension/event_log.h"

using namespace tidemark;
namespace allocator = c10::cuda::CUDACachingAllocator;

namespace {

std::vector<Event> read_events(const char* path) {
  std::vector<Event> events;
  std::FILE* file = std::fopen(path, "rb");
  if (!file) return events;
  Event event;
  while (std::fread(&event, sizeof event, 1, file) == 1) events.push_back(event);
  std::fclose(file);
  return events;
}

void replay(const std::vector<Event>& events) {
  std::unordered_map<std::uint64_t, void*> live;
  for (const Event& event : events) {
    if (event.action == Action::alloc) {
      live[event.address] = allocator::get()->raw_alloc_with_stream(static_cast<std::size_t>(event.requested_bytes), reinterpret_cast<cudaStream_t>(event.stream));
    } else if (event.action == Action::free_completed) {
      const auto found = live.find(event.address);
      if (found == live.end()) continue;
      allocator::get()->raw_delete(found->second);
      live.erase(found);
    } else if (event.action == Action::empty_cache) {
      allocator::get()->emptyCache();
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  allocator::get()->init(1);
  if (argc > 2 && std::atof(argv[2]) < 1.0) allocator::get()->setMemoryFraction(std::atof(argv[2]), 0);
  try {
    replay(read_events(argv[1]));
  } catch (const std::exception&) {
    std::puts("out of memory");
    std::fflush(stdout);
    std::_Exit(0);
  }
  const auto stats = allocator::getDeviceStats(0);
  std::printf("%lld %lld\n", static_cast<long long>(stats.allocated_bytes[0].peak), static_cast<long long>(stats.reserved_bytes[0].peak));
  std::fflush(stdout);
  std::_Exit(0);   // nothing to give back: the card goes with the process
}
