// Any text is a card or a catalogue, or an Error; a card that was read can be written and read again.
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "io/card_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tidemark;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const io::Catalogue catalogue = io::read_catalogue(text, "input");
    for (const Card& card : catalogue) io::find_card(catalogue, card.key);
  } catch (const Error&) {
  }
  Card card;
  try {
    card = io::read_card(text, "input");
  } catch (const Error&) {
    return 0;
  }
  io::write_card_properties(card);
  const std::string written = io::write_card(card);
  if (io::write_card(io::read_card(written, "again")) != written) std::abort();
  return 0;
}
