#include "memory/out_of_memory.h"

#include <fmt/format.h>

#include "memory/size_classes.h"

namespace tidemark {
namespace {

/// format_size, CUDACachingAllocator.cpp (torch 2.11.0)
std::string torch_size(std::int64_t bytes) {
  const auto in = [&](int shift) { return static_cast<double>(bytes) / static_cast<double>(std::int64_t{1} << shift); };
  if (bytes <= 1 << 10) return fmt::format("{} bytes", bytes);
  if (bytes <= 1 << 20) return fmt::format("{:.2f} KiB", in(10));
  if (bytes <= 1 << 30) return fmt::format("{:.2f} MiB", in(20));
  return fmt::format("{:.2f} GiB", in(30));
}

}  // namespace

std::string out_of_memory_message(const OutOfMemory& what, std::string_view advice) {
  if (what.requested_bytes >= kTooManyBytes) return "CUDA out of memory. Tried to allocate more than 1EB memory.";
  const std::string allowed = what.allowed_bytes ? torch_size(*what.allowed_bytes) + " allowed; " : "";
  return fmt::format(
      "CUDA out of memory. Tried to allocate {}. GPU 0 has a total capacity of {} of which {} is free. "
      "Including non-PyTorch memory, this process has {} memory in use. {}"
      "Of the allocated memory {} is allocated by PyTorch, and {} is reserved by PyTorch but unallocated.{}{}",
      torch_size(what.tried_bytes), torch_size(what.device_total_bytes), torch_size(what.device_free_bytes),
      torch_size(what.process_bytes), allowed, torch_size(what.allocated_bytes),
      torch_size(what.reserved_bytes - what.allocated_bytes), advice.empty() ? "" : " ", advice);
}

}  // namespace tidemark
