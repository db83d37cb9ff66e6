// --gpu NAME|FILE and --memory SIZE: the card to play.
#pragma once
#include <filesystem>
#include <string>

#include "io/card_json.h"

namespace tidemark::cli {

io::Catalogue load_catalogue(const std::filesystem::path& data);

/// Of "h100-80gbx8": a card, and how many.  A name that is known as it stands has no number.
struct Place {
  std::string card;
  std::int64_t gpus = 1;
};
Place place_of(const std::string& text);

/// `gpu` is a name from the catalogue or a card file; `memory` another size for it, or empty; `link` another kind of
/// link, or "auto".
Card choose_card(const std::string& gpu, const std::string& memory, const std::filesystem::path& data,
                 const std::string& link = "auto");
/// Throws Error{unsupported} where it is not known what communicators take over its links.
void check_link(const Card& card);

}  // namespace tidemark::cli
