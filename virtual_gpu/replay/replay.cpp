// What else could have been true: the recorded requests once more, through PyTorch's own allocator, on a card whose
// addresses run the other way.  Equal free blocks are taken by address, so the order in which the driver hands out
// addresses moves peaks.
//
// And, if blocks were used on several streams, on a card that is quicker or slower: those are free again when the
// stream's event has completed, which TIDEMARK_CLOCK decides (virtual_gpu/device_clock.h).
//
// The whole of a process's work (it needs libc10_cuda and no more of PyTorch): with the words of a command, EVENTS
// MEMORY_FRACTION [STREAM_CALLS] after the first, it prints "allocated_peak reserved_peak", or "out of memory", and
// ends the process; with at:BYTES in the place of STREAM_CALLS, "address bytes" of every block that is held when so
// much is first allocated.  The card is the one that TIDEMARK_CARD names.
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "../torch_extension/events/event_log.h"
#include "../torch_extension/events/stream_log.h"

namespace c10::cuda::_internal {  // c10/cuda/CUDAFunctions.cpp, in no header: libtorch_cuda sets it, which is not here
C10_CUDA_API void setHasPrimaryContext(bool (*function)(DeviceIndex));
}

using namespace tidemark;
namespace allocator = c10::cuda::CUDACachingAllocator;

namespace {

/// Of what is preloaded.
template <class Function>
Function* cuda(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}
const auto cuda_event_record = cuda<int(void* event, void* stream)>("cudaEventRecord");
const auto cuda_event_synchronize = cuda<int(void* event)>("cudaEventSynchronize");
const auto cuda_stream_wait_event = cuda<int(void* stream, void* event, unsigned flags)>("cudaStreamWaitEvent");
const auto cuda_stream_synchronize = cuda<int(void* stream)>("cudaStreamSynchronize");
const auto cuda_memset_async = cuda<int(void* pointer, int value, std::size_t bytes, void* stream)>("cudaMemsetAsync");

template <class Record>
std::vector<Record> read_all(const char* path) {
  std::vector<Record> records;
  std::FILE* file = std::fopen(path, "rb");
  if (!file) return records;
  Record record;
  while (std::fread(&record, sizeof record, 1, file) == 1) records.push_back(record);
  std::fclose(file);
  return records;
}

void* allocate(const Event& event) {
  return allocator::get()->raw_alloc_with_stream(static_cast<std::size_t>(event.requested_bytes),
                                                 reinterpret_cast<cudaStream_t>(event.stream));
}

void use_on(void* block, cudaStream_t stream) {
  c10::DataPtr data(block, block, allocator::get()->raw_deleter(), c10::Device(c10::kCUDA, 0));
  allocator::get()->recordStream(data, c10::cuda::getStreamFromExternal(stream, 0));
  data.release_context();
}

/// As it was, each block free again when it was.  One that had to wait for other streams waits for a stream of its own
/// here, which the host waits for at the recorded moment; so TIDEMARK_CLOCK must be `late`.
class ReplayAsRecorded {
 public:
  explicit ReplayAsRecorded(const std::vector<Event>& events) : events_(events) {}

  void run() {
    for (std::size_t i = 0; i < events_.size(); ++i) step(i);
  }

  /// Up to where `bytes` are allocated; {address: bytes} of what is held then.
  std::unordered_map<std::uint64_t, std::int64_t> live_at(std::int64_t bytes) {
    std::unordered_map<std::uint64_t, std::int64_t> sizes;
    std::int64_t before = 0;
    for (std::size_t i = 0; i < events_.size() && before < bytes; ++i) {
      step(i);
      if (events_[i].action != Action::alloc && events_[i].action != Action::free_requested) continue;
      const std::int64_t now = allocator::getDeviceStats(0).allocated_bytes[0].current;
      if (events_[i].action == Action::alloc)
        sizes[events_[i].address] = now - before;
      else
        sizes.erase(events_[i].address);
      before = now;
    }
    return sizes;
  }

 private:
  void step(std::size_t i) {
    const Event& event = events_[i];
    if (event.action == Action::alloc)
      live_[event.address] = allocate(event);
    else if (event.action == Action::free_requested)
      free(i);
    else if (event.action == Action::free_completed)
      complete(event.address);
    else if (event.action == Action::empty_cache)
      allocator::get()->emptyCache();
  }

  void free(std::size_t i) {
    const std::uint64_t address = events_[i].address;
    const auto found = live_.find(address);
    if (found == live_.end()) return;
    const bool at_once =
        i + 1 < events_.size() && events_[i + 1].action == Action::free_completed && events_[i + 1].address == address;
    if (!at_once) {
      const auto stream = reinterpret_cast<cudaStream_t>(kFirstStream + 64 * streams_++);
      cuda_memset_async(nullptr, 0, 0, stream);
      use_on(found->second, stream);
      waiting_[address] = stream;
    }
    allocator::get()->raw_delete(found->second);
    live_.erase(found);
  }

  void complete(std::uint64_t address) {
    const auto found = waiting_.find(address);
    if (found == waiting_.end()) return;
    cuda_stream_synchronize(found->second);
    waiting_.erase(found);
  }

  static constexpr std::uint64_t kFirstStream = std::uint64_t{1} << 62;
  const std::vector<Event>& events_;
  std::uint64_t streams_ = 0;
  std::unordered_map<std::uint64_t, void*> live_;
  std::unordered_map<std::uint64_t, cudaStream_t> waiting_;
};

/// Allocations and requests to free them, and what orders streams; when a block that other streams used is free again
/// is the allocator's affair, by what the clock answers.
class ReplayWithStreams {
 public:
  ReplayWithStreams(const std::vector<Event>& events, const std::vector<StreamCall>& calls)
      : events_(events), calls_(calls) {}

  void run() {
    for (std::size_t i = 0; i < events_.size(); ++i) {
      for (; next_ < calls_.size() && calls_[next_].position <= i; ++next_) call(calls_[next_]);
      const Event& event = events_[i];
      if (event.action == Action::alloc)
        live_[event.address] = allocate(event);
      else if (event.action == Action::free_requested)
        free(event.address, i + 1);
      else if (event.action == Action::empty_cache)
        allocator::get()->emptyCache();
    }
  }

 private:
  void free(std::uint64_t address, std::size_t position) {
    const auto found = live_.find(address);
    if (found == live_.end()) return;
    for (std::size_t i = next_; i < calls_.size() && calls_[i].position == position; ++i)
      if (calls_[i].action == StreamAction::block_used && calls_[i].event == address) use(found->second, calls_[i]);
    allocator::get()->raw_delete(found->second);
    live_.erase(found);
  }

  void use(void* block, const StreamCall& call) {
    queue_work(call);
    use_on(block, stream_of(call));
  }

  void call(const StreamCall& call) {
    queue_work(call);
    switch (call.action) {
      case StreamAction::block_used: break;  // done with the free before it
      case StreamAction::record: cuda_event_record(event_of(call), stream_of(call)); break;
      case StreamAction::stream_waits: cuda_stream_wait_event(stream_of(call), event_of(call), 0); break;
      case StreamAction::host_waits_for_event: cuda_event_synchronize(event_of(call)); break;
      case StreamAction::host_waits_for_stream: cuda_stream_synchronize(stream_of(call)); break;
    }
  }

  /// How much work a stream had does not matter, but that it had some since it was looked at last.
  void queue_work(const StreamCall& call) {
    if (call.work > worked_[call.stream]) cuda_memset_async(nullptr, 0, 0, stream_of(call));
    worked_[call.stream] = call.work;
  }

  static cudaStream_t stream_of(const StreamCall& call) { return reinterpret_cast<cudaStream_t>(call.stream); }
  /// Apart from the events that the allocator makes here.
  static void* event_of(const StreamCall& call) { return reinterpret_cast<void*>(call.event | std::uint64_t{1} << 62); }

  const std::vector<Event>& events_;
  const std::vector<StreamCall>& calls_;
  std::size_t next_ = 0;
  std::unordered_map<std::uint64_t, void*> live_;
  std::unordered_map<std::uint64_t, std::uint64_t> worked_;
};

[[noreturn]] void end(int exit_code) {
  std::fflush(stdout);
  std::_Exit(exit_code);  // nothing to give back: the card goes with the process
}

void print_live_at(const std::vector<Event>& events, std::int64_t bytes) {
  for (const auto& [address, size] : ReplayAsRecorded(events).live_at(bytes))
    std::printf("%llu %lld\n", static_cast<unsigned long long>(address), static_cast<long long>(size));
}

}  // namespace

extern "C" int tidemark_replay(int argc, char** argv) {
  if (argc < 2) return 2;
  c10::cuda::_internal::setHasPrimaryContext([](c10::DeviceIndex) { return true; });
  allocator::get()->init(1);
  if (argc > 2 && std::atof(argv[2]) < 1.0) allocator::get()->setMemoryFraction(std::atof(argv[2]), 0);
  try {
    const auto events = read_all<Event>(argv[1]);
    if (argc > 3 && std::strncmp(argv[3], "at:", 3) == 0) {
      print_live_at(events, std::atoll(argv[3] + 3));
      end(0);
    }
    if (argc > 3)
      ReplayWithStreams(events, read_all<StreamCall>(argv[3])).run();
    else
      ReplayAsRecorded(events).run();
  } catch (const c10::OutOfMemoryError&) {
    std::puts("out of memory");
    end(0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    end(1);
  }
  const auto stats = allocator::getDeviceStats(0);
  std::printf("%lld %lld\n", static_cast<long long>(stats.allocated_bytes[0].peak),
              static_cast<long long>(stats.reserved_bytes[0].peak));
  end(0);
}
