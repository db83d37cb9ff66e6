// The plan that a question asks for.
#pragma once
#include "answers/question.h"
#include "plan/progress.h"

namespace tidemark::answers {

struct PlanAnswer {
  Value plan;                   // as `tidemark plan --json` writes it
  std::string text;             // as it prints it
  std::int64_t card_bytes = 0;  // that the card has; of several cards 0
  bool wants_cudnn = false;     // configurations were left out whose convolutions no table has
};

/// Of `asked` the key "plan" has the wishes (plan_wishes.h).  Throws Error.
PlanAnswer planned(const Value& asked, const Data& data, const plan::Told& told = {});

}  // namespace tidemark::answers
