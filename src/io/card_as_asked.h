// A card with what a question says of it besides its name.
#pragma once
#include <string>
#include <string_view>

#include "memory/card.h"

namespace tidemark::io {

/// `memory` is another size, or empty; `link` another kind of link, or "auto"; `device_memory` the text of
/// device_memory.json.  Throws Error{bad_value} for a size that the driver alone would take.
Card card_as_asked(Card card, std::string_view device_memory, const std::string& memory, std::string_view link);

}  // namespace tidemark::io
