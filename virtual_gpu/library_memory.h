// Memory that a library takes for itself while it is asked something: cuDNN's handle.  What libraries take of a card is
// counted from the beginning (data/device_memory.json), handles included, so it is neither counted again nor given an
// address of the card's.
#pragma once
#include <cstddef>

namespace tidemark {

/// While one lives, what this thread asks the driver for is a library's own.
class LibraryAtWork {
 public:
  LibraryAtWork();
  ~LibraryAtWork();
  LibraryAtWork(const LibraryAtWork&) = delete;
  LibraryAtWork& operator=(const LibraryAtWork&) = delete;
};
bool library_is_at_work();

void* allocate_for_library(std::size_t bytes);
/// False if `pointer` is none of those.
bool free_of_library(void* pointer);

}  // namespace tidemark
