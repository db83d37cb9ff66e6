// The library that `tidemark run` preloads, opened beside the tests: a node of two cards, whose facts are those below.
#pragma once
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "support/temporary_folder.h"

namespace tidemark {

inline constexpr const char* kNodeOfTwo =
    "name=NVIDIA GeForce RTX 4090\ncompute_capability_major=8\ncompute_capability_minor=9\n"
    "total_bytes=25256591360\ndriver_reserved_bytes=134217728\ncontext_bytes=400000000\nmultiprocessors=128\n"
    "memory_bus_bits=384\nclock_khz=2520000\nmemory_clock_khz=10501000\ncuda_major=13\ncuda_minor=0\ndevices=2\n";

/// A function of the library by its C name; the library reads the facts once, when it is asked first.
template <class Function>
Function* gpu_function(const char* name) {
  static void* library = [] {
    const TemporaryFolder folder;
    ::setenv("TIDEMARK_CARD", folder.write("card.properties", kNodeOfTwo).c_str(), 1);
    void* opened = ::dlopen(TIDEMARK_GPU_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    static int count;
    if (opened) reinterpret_cast<int (*)(int*)>(::dlsym(opened, "cudaGetDeviceCount"))(&count);
    return opened;
  }();
  void* found = library ? ::dlsym(library, name) : nullptr;
  EXPECT_NE(found, nullptr) << name;
  return reinterpret_cast<Function*>(found);
}

}  // namespace tidemark
