// Events per second of the caching allocator on one core.  usage: bench_allocator [RECORDING.txt …]
// A recording (unpacked) is replayed again and again; without one, a training-like pattern and a random one are.
#include <fmt/format.h>

#include <ctime>
#include <fstream>
#include <iterator>
#include <random>

#include "base/error.h"
#include "memory/lower_bound.h"
#include "memory/trace.h"

using namespace tidemark;

namespace {

constexpr double kSecondsPerRow = 1.0;

/// Layers that keep activations forward and give them back in reverse, with temporaries in between.
std::vector<Request> training_like(int layers, int steps) {
  std::vector<Request> requests;
  std::uint32_t number = 0;
  const auto alloc = [&](std::int64_t bytes) {
    return requests.push_back({Request::Kind::alloc, number, bytes, 0}), number++;
  };
  const auto release = [&](std::uint32_t which) { requests.push_back({Request::Kind::free, which, 0, 0}); };
  for (int step = 0; step < steps; ++step) {
    std::vector<std::uint32_t> kept;
    for (int layer = 0; layer < layers; ++layer)
      for (const std::int64_t bytes : {33554432, 8192, 33554432, 90177536, 90177536, 16384, 33554432}) {
        const auto temporary = alloc(bytes / 2);
        kept.push_back(alloc(bytes));
        release(temporary);
      }
    for (; !kept.empty(); kept.pop_back()) {
      const auto gradient = alloc(33554432);
      release(kept.back());
      release(gradient);
    }
  }
  return requests;
}

std::vector<Request> random_requests(int count, std::size_t live_at_most) {
  std::mt19937_64 random(1);
  std::vector<Request> requests;
  std::vector<std::uint32_t> live;
  for (std::uint32_t number = 0; count > 0; --count) {
    if (live.size() < live_at_most && (live.empty() || random() % 2 == 0)) {
      const std::int64_t bytes = 1 + static_cast<std::int64_t>(random() >> (64 - (8 + random() % 18)));
      requests.push_back({Request::Kind::alloc, number, bytes, 0});
      live.push_back(number++);
    } else {
      std::swap(live[random() % live.size()], live.back());
      requests.push_back({Request::Kind::free, live.back(), 0, 0});
      live.pop_back();
    }
  }
  for (const auto number : live) requests.push_back({Request::Kind::free, number, 0, 0});
  return requests;
}

/// Allocations and frees only, over and over on one allocator: the steady state of a training loop.
double events_per_second(const std::vector<Request>& requests, Allocator& allocator) {
  std::vector<AllocationId> ids(requests.size(), kOutOfMemory);
  std::int64_t events = 0;
  const std::clock_t start = std::clock();  // of this process: other programs on the machine do not count
  double seconds = 0;
  while (seconds < kSecondsPerRow) {
    for (const Request& request : requests) {
      if (request.kind == Request::Kind::alloc) {
        ids[request.number] = allocator.alloc(request.bytes, request.stream);
      } else if (request.kind == Request::Kind::free && ids[request.number] != kOutOfMemory) {
        allocator.free(ids[request.number]);
        ids[request.number] = kOutOfMemory;
      }
    }
    for (AllocationId& id : ids)  // what the recording leaves alive
      if (id != kOutOfMemory) allocator.free(std::exchange(id, kOutOfMemory));
    events += static_cast<std::int64_t>(requests.size());
    seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  }
  return static_cast<double>(events) / seconds;
}

void row(const std::string& name, const std::vector<Request>& requests, const CachingAllocatorConfig& config) {
  CachingAllocator allocator(config);
  LowerBound bound;
  fmt::print("{:<40} {:>9} requests  {:>6.1f} M/s  lower bound {:>6.1f} M/s\n", name, requests.size(),
             events_per_second(requests, allocator) / 1e6, events_per_second(requests, bound) / 1e6);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    for (int i = 1; i < argc; ++i) {
      std::ifstream file(argv[i]);
      const Recording recording = read_recording(std::string(std::istreambuf_iterator<char>(file), {}));
      row(argv[i], recording.requests, recording.config);
    }
    if (argc > 1) return 0;
    CachingAllocatorConfig expandable;
    expandable.settings.expandable_segments = true;
    row("training-like, 32 layers", training_like(32, 4), {});
    row("training-like, expandable segments", training_like(32, 4), expandable);
    row("random, 100 live", random_requests(200'000, 100), {});
    row("random, 10000 live", random_requests(200'000, 10'000), {});
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
