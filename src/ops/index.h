// The operations that a prediction is made of.
#pragma once
#include <span>

namespace tidemark {

struct OpEntry {
  const char* name;     // as in ops.h, and of its recording: tests/golden/ops/NAME.json
  const char* mirrors;  // what it follows, in PyTorch
};
std::span<const OpEntry> op_entries();

}  // namespace tidemark
