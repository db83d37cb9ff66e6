// --gpu NAME|FILE and --memory SIZE: the card to play.
#pragma once
#include <filesystem>
#include <string>

#include "io/card_json.h"

namespace tidemark::cli {

io::Catalogue load_catalogue(const std::filesystem::path& data);

/// `gpu` is a name from the catalogue or a card file; `memory` another size for it, or empty.
Card choose_card(const std::string& gpu, const std::string& memory, const std::filesystem::path& data);

}  // namespace tidemark::cli
