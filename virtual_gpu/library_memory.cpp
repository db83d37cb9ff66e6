#include "library_memory.h"

#include <cstdlib>
#include <mutex>
#include <set>

namespace tidemark {
namespace {

thread_local int at_work = 0;

struct Blocks {
  std::mutex mutex;
  std::set<void*> all;
};
Blocks& blocks() {
  static auto* the = new Blocks;
  return *the;
}

}  // namespace

LibraryAtWork::LibraryAtWork() { ++at_work; }
LibraryAtWork::~LibraryAtWork() { --at_work; }
bool library_is_at_work() { return at_work > 0; }

void* allocate_for_library(std::size_t bytes) {
  constexpr std::size_t kAlignment =
      256;  // what cudaMalloc promises at least (CUDA C++ Programming Guide, device memory accesses)
  void* block = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  const std::lock_guard lock(blocks().mutex);
  if (block) blocks().all.insert(block);
  return block;
}

bool free_of_library(void* pointer) {
  const std::lock_guard lock(blocks().mutex);
  if (blocks().all.erase(pointer) == 0) return false;
  std::free(pointer);
  return true;
}

}  // namespace tidemark
