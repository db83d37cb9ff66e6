// A recorded training step: what was asked for, on which card.
#pragma once
#include <fstream>
#include <sstream>

#include "io/card_json.h"
#include "io/value_json.h"
#include "recordings.h"

namespace tidemark {

struct RecordedStepText {
  Value header;  // spec, card and versions
  std::istringstream lines;
};

inline RecordedStepText read_recorded_step(const std::filesystem::path& folder, const std::string& name) {
  std::istringstream text(unpack(folder / (name + ".txt.gz")));
  std::string line;
  std::getline(text, line);
  return {io::value_from_json(line, name), std::move(text)};
}

inline const Card& card_of(const Value& header) {
  static const io::Catalogue cards = [] {
    std::ifstream file(TIDEMARK_CARDS);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return io::read_catalogue(text, "gpus.json");
  }();
  return io::find_card(cards, *header.find("card")->as_text());
}

}  // namespace tidemark
