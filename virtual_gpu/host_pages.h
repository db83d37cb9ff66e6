// Host memory that is not there until it is written: a large tensor gets an unreserved mapping of its own, and what
// nobody has written into it is zero and takes no memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

namespace tidemark {

/// The mappings, and which parts of them hold values that nobody can know (uninitialised, drawn at random).
/// Thread-safe, also across a fork.
class HostPages {
 public:
  /// Zeros, or null where the kernel grants none.
  void* take(std::size_t bytes);
  /// False if `start` is not what `take` gave.
  bool give_back(void* start);
  /// Whether all of it is in one mapping.
  bool owns(const void* pointer, std::size_t bytes) const;

  void mark_unknown(const void* pointer, std::size_t bytes);
  void mark_known(const void* pointer, std::size_t bytes);
  /// Marked as a whole, and nothing but zeros: what was written behind our back (NumPy, other libraries) is known.
  bool is_unknown(const void* pointer, std::size_t bytes) const;

  /// Around a fork: a thread that is not there in the child must not hold the lock there.
  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }

 private:
  void cut(std::uintptr_t begin, std::uintptr_t end);

  mutable std::mutex mutex_;
  std::map<std::uintptr_t, std::uintptr_t> taken_, unknown_;  // from, to; the unknown ones neither overlap nor touch
};

HostPages& host_pages();

/// Calls `visit(first, last)`, offsets in bytes, for each run of pages that hold more than zeros.  Pages that the
/// kernel has not given yet (/proc/self/pagemap) are not looked at, if `anonymous`: of a file they could hold anything.
void visit_written(const void* pointer, std::size_t bytes, bool anonymous,
                   const std::function<void(std::size_t, std::size_t)>& visit);
/// Whether none of the whole pages in it was ever given, so that they are zero.  False where the kernel does not say.
bool none_is_given(const void* pointer, std::size_t bytes);

}  // namespace tidemark

extern "C" {  // for the extension inside PyTorch, and python/tidemark (ctypes)
__attribute__((visibility("default"))) void* tidemark_take_host_pages(std::size_t bytes);
__attribute__((visibility("default"))) bool tidemark_give_back_host_pages(void* start);
__attribute__((visibility("default"))) bool tidemark_owns_host_pages(const void* pointer, std::size_t bytes);
__attribute__((visibility("default"))) void tidemark_mark_unknown(const void* pointer, std::size_t bytes);
__attribute__((visibility("default"))) void tidemark_mark_known(const void* pointer, std::size_t bytes);
__attribute__((visibility("default"))) bool tidemark_is_unknown(const void* pointer, std::size_t bytes);
__attribute__((visibility("default"))) void tidemark_visit_written(const void* pointer, std::size_t bytes,
                                                                   void (*visit)(void* context, std::size_t first,
                                                                                 std::size_t last),
                                                                   void* context);
__attribute__((visibility("default"))) bool tidemark_none_is_given(const void* pointer, std::size_t bytes);
}
