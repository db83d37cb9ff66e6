// Any text is a list of events or an Error.  A list equals itself, and differs from what is left without its last
// allocation.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "io/comparison.h"
#include "io/events_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tidemark;
  try {
    const auto events = io::read_events({reinterpret_cast<const char*>(data), size}, "input");
    const MemoryRecord whole = record_of(events, "a");
    if (!compare(whole, whole, {.names = true}).same()) std::abort();
    auto fewer = events;
    const auto last =
        std::find_if(fewer.rbegin(), fewer.rend(), [](const MemoryEvent& event) { return !event.is_free; });
    if (last == fewer.rend()) return 0;
    fewer.erase(std::next(last).base(), fewer.end());
    const Comparison comparison = compare(whole, record_of(fewer, "b"));
    if (!comparison.divergence) std::abort();
    io::comparison_to_text(comparison);
    io::comparison_to_json(comparison);
  } catch (const Error&) {
  }
  return 0;
}
