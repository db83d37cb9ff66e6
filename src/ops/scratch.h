#pragma once
#include "ops/ops.h"

namespace tidemark {

/// A library's scratch memory (cuDNN's, cub's), for as long as its kernel is launched.
inline void take_scratch(Run& run, std::int64_t bytes) {
  const Setting<Category> category(run.category, Category::workspace);
  const Ref<Storage> scratch = run.allocate(bytes);
}

}  // namespace tidemark
