// A card with what a question says of it besides its name.
#pragma once
#include <string>
#include <string_view>

#include "memory/card.h"

namespace tidemark::io {

/// `memory`: another size, or empty; `link`: another kind, or "auto"; `device_memory`: the text of device_memory.json;
/// `windows`: a WDDM driver.  Throws Error{bad_value} for a size that the driver takes.
Card card_as_asked(Card card, std::string_view device_memory, const std::string& memory, std::string_view link,
                   bool windows);

}  // namespace tidemark::io
