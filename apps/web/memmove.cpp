// WebAssembly's own instruction in the place of the C library's memmove, which Debian's emscripten (3.1.6) has in a
// build that does without it, word by word: it is what lists of free blocks are moved by.  Compiled with -mbulk-memory.
#include <cstddef>

extern "C" void* memmove(void* to, const void* from, std::size_t bytes) { return __builtin_memmove(to, from, bytes); }
