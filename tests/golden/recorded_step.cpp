#include "recorded_step.h"

#include <fstream>
#include <iterator>
#include <utility>

#include "io/card_json.h"
#include "io/value_json.h"

namespace tidemark {

RecordedStepText read_recorded_step(const Recordings& recordings, const RecordedCase& recorded) {
  std::istringstream text(recordings.text(recorded));
  std::string line;
  std::getline(text, line);
  return {io::value_from_json(line, recorded.name), std::move(text)};
}

Spec spec_of(const Value& header) {
  Spec spec = read_spec(*header.find("spec"));
  spec.lenient_names = true;  // they name layers of several families
  spec.torch = *header.find("versions")->find("torch")->as_text();
  if (spec.loop != LoopKind::plain) spec.transformers = *header.find("versions")->find("transformers")->as_text();
  return spec;
}

const Card& card_of(const Value& header) {
  static const io::Catalogue cards = [] {
    std::ifstream file(TIDEMARK_CARDS);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return io::read_catalogue(text, "gpus.json");
  }();
  return io::find_card(cards, *header.find("card")->as_text());
}

}  // namespace tidemark
