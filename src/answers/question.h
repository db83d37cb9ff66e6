// A question, as the page, Python and the server ask it:
//
//   {"spec": …, "sources": …, "config": {"text": …, "file": …}, "program": {"name": …, "text": …}, "card": …}
//
// "spec" has the keys of a spec file, with the model's config.json under "model".  All the rest may be left out: where
// what nobody said was found; config.json as it was written, for messages that name a line of it; the captured program
// of the model's family; a card that is described instead of named.
#pragma once
#include <initializer_list>
#include <map>
#include <optional>
#include <string>

#include "answers/data.h"
#include "answers/family_programs.h"
#include "base/error.h"
#include "base/value.h"
#include "estimate/spec.h"
#include "memory/card.h"

namespace tidemark::answers {

/// No program that is at hand holds for the model, or no table has its convolutions: what is captured, or cuDNN itself,
/// would answer.
class NotCaptured : public Error {
 public:
  explicit NotCaptured(const Error& error) : Error(error.code(), error.message(), error.where(), error.hint()) {}
};

struct Question {
  Spec spec;
  Value model_config;
  Card card;
  ProgramsOf programs_of;   // for this spec and those of other strategies
  SharedPrograms programs;  // for this one; may be empty, never null
  std::map<std::string, std::string> sources;
};

/// Nothing is looked up that is not in `asked` or `data`: a model that is a path or a name is refused.  Throws Error.
Question read_question(const Value& asked, const Data& data);

/// The same question of another card of the catalogue, of the size that it has there.  Throws Error{unknown_name}.
Question on_card(Question question, const std::string& name, const Data& data);

/// Those of the family that the spec's model is of; none where there are none.
ProgramsOf programs_at_hand(const Spec& spec, const Programs& programs);

/// The program that may answer a question, or a plan of it, of those of `data`; nothing where there is none.
std::optional<std::string> program_needed(const Value& asked, const Data& data);

/// Of "h100-80gbx8" or "8xh100-80gb": a card, and how many.  A name of the catalogue has no number.
struct Place {
  std::string card;
  std::int64_t gpus = 1;
};
Place place_of(const std::string& text, const io::Catalogue& cards);
/// The readings of a text that holds a number of cards: "3090x2" is two cards 3090, or 3090 cards 2.
std::vector<Place> counted_places(const std::string& text);

/// Keys of a spec whose "gpu" names one card, and whose "gpus" counts them, if nothing else did.
Value with_place(Value keys, const io::Catalogue& cards);

/// "gpu" of the first of these keys of a spec that has it as a text; empty where none does.
std::string card_said(std::initializer_list<const Value*> keys);

/// GPUs that one copy of the model is laid out over by a spec's keys (pp, tp, cp).  As many it has at least: a plan
/// says elsewhere how many there are, and decides what they do.
std::int64_t gpus_of_one_copy(const Value& keys);

}  // namespace tidemark::answers
