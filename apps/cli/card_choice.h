// --gpu NAME|FILE and --memory SIZE: the card to play.
#pragma once
#include <filesystem>
#include <string>

#include "answers/question.h"
#include "io/card_json.h"

namespace tidemark::cli {

io::Catalogue load_catalogue(const std::filesystem::path& data);

using answers::Place;
/// Of "h100-80gbx8", among the cards that are known.
Place place_of(const std::string& text);
Value with_place(Value keys);

/// `gpu` is a name from the catalogue or a card file; `memory` another size, or empty; `link` another kind, or "auto";
/// `windows`: a WDDM driver.
Card choose_card(const std::string& gpu, const std::string& memory, const std::filesystem::path& data,
                 const std::string& link = "auto", bool windows = false);
/// Throws Error{unsupported} where it is not known what communicators take over its links.
void check_link(const Card& card);

}  // namespace tidemark::cli
