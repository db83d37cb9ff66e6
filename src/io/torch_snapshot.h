// PyTorch's memory snapshots: what torch.cuda.memory._dump_snapshot and `tidemark run --snapshot` write.
#pragma once
#include <string>
#include <string_view>

#include "estimate/compare.h"

namespace tidemark::io {

/// Whether a file begins as a pickle does.
bool is_torch_snapshot(std::string_view bytes);

/// The trace of the device that has the longest, its frames as operation and module where `tidemark run` wrote them and
/// as the Python line elsewhere, and the peaks over that trace, counted back from what the segments hold at its end.
/// Throws Error{bad_file} and Error{unsupported}.
MemoryRecord read_torch_snapshot(std::string_view bytes, const std::string& where);

}  // namespace tidemark::io
