// Cards as JSON: the catalogue (data/gpus.json), and a card that a user describes in a file of the same form.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "memory/card.h"

namespace tidemark::io {

using Catalogue = std::vector<Card>;

/// A list of cards, or an object with a list "cards".  Keys and aliases must be unique.  Throws Error{bad_file}.
Catalogue read_catalogue(std::string_view text, const std::string& where);

/// One card.  "key", "aliases" and "sources" may be left out of a user's own file.
Card read_card(std::string_view text, const std::string& where);

/// The card of that key, alias or name, letter case aside.  Throws Error{unknown_name} naming the nearest.
const Card& find_card(const Catalogue& catalogue, std::string_view name);
bool has_card(const Catalogue& catalogue, std::string_view name);

/// "a100 is taken for a100-40gb, not a100-80gb", if the name stands for one of several sizes; else empty.
std::string size_assumption(const Catalogue& catalogue, std::string_view name);

std::string write_card(const Card& card);
std::string write_catalogue(const Catalogue& catalogue);

/// "key=value" lines for libtidemark_gpu.so, which reads no JSON.
std::string write_card_properties(const Card& card);

}  // namespace tidemark::io
