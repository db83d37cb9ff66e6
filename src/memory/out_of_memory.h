// What is known when an allocation does not fit, and PyTorch's words for it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark {

struct OutOfMemory {
  std::int64_t requested_bytes = 0;  // by the program
  std::int64_t tried_bytes = 0;      // the segment that was asked of the driver
  std::int64_t device_total_bytes = 0, device_free_bytes = 0;
  std::int64_t process_bytes = 0;             // what the driver counts to this process: context and segments
  std::optional<std::int64_t> allowed_bytes;  // under a memory fraction
  std::int64_t allocated_bytes = 0, reserved_bytes = 0;
};

/// The text of torch.OutOfMemoryError, on one line; `advice` is the end of it.
std::string out_of_memory_message(const OutOfMemory& what, std::string_view advice);

}  // namespace tidemark
