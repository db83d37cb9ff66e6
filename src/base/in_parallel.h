// The same work on many things, by many threads.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace tidemark {

inline std::size_t cores() { return std::max(1U, std::thread::hardware_concurrency()); }

/// Calls work(0) to work(count - 1), each once, until one throws: what the lowest of those that threw has thrown is
/// thrown here.
inline void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work,
                        std::size_t threads = cores()) {
  std::atomic<std::size_t> next = 0;
  std::vector<std::exception_ptr> failures(count);
  const auto take = [&] {
    for (std::size_t number = next++; number < count; number = next++) {
      try {
        work(number);
      } catch (...) {
        failures[number] = std::current_exception();
        next = count;
      }
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < std::min(threads, count); ++i) others.emplace_back(take);
    take();
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace tidemark
