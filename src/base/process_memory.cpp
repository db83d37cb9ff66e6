#include "base/process_memory.h"

#include <cstdlib>  // __GLIBC__
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace tidemark {

void keep_freed_memory() {
#ifdef __GLIBC__
  // glibc malloc/malloc.c: the largest threshold that mallopt takes is HEAP_MAX_SIZE / 2, 32 MiB; an arena's top is
  // trimmed above the other.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

}  // namespace tidemark
