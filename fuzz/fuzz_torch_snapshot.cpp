// Any bytes are a memory snapshot or an Error; one that was read equals itself.
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "io/comparison.h"
#include "io/torch_snapshot.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tidemark;
  MemoryRecord record;
  try {
    record = io::read_torch_snapshot({reinterpret_cast<const char*>(data), size}, "input");
  } catch (const Error&) {
    return 0;
  }
  const Comparison comparison = compare(record, record, {.names = true});
  if (!comparison.same()) std::abort();
  io::comparison_to_text(comparison);
  io::comparison_to_json(comparison);
  return 0;
}
