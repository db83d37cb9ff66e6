#include "io/card_as_asked.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/error.h"
#include "io/device_memory_json.h"

namespace tidemark::io {
namespace {

void resize(Card& card, const std::string& memory) {
  const std::int64_t bytes = parse_bytes(memory);
  const std::int64_t taken =
      checked_add(checked_add(card.driver_reserved_bytes, card.context_bytes.high), card.beside.library_bytes.high);
  if (bytes <= taken)
    throw Error(Errc::bad_value,
                fmt::format("{} is less than the driver, the CUDA context and libraries take ({})", memory,
                            format_bytes(taken)),
                "--memory");
  card.total_bytes = bytes;
  card.name += fmt::format(" with {}", format_bytes(bytes));
}

}  // namespace

Card card_as_asked(Card card, std::string_view device_memory, const std::string& memory, std::string_view link,
                   bool windows) {
  card.beside = read_device_memory(device_memory, "device_memory.json");
  if (!memory.empty()) resize(card, memory);
  if (link != "auto") card.link.kind = link;
  if (windows) card.wddm = true;
  return card;
}

}  // namespace tidemark::io
