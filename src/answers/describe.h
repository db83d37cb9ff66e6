// What there is to ask about: cards, families, captured programs, formats of trainers, the keys of a spec.
#pragma once
#include "answers/data.h"
#include "base/value.h"

namespace tidemark::answers {

Value described(const Data& data);

}  // namespace tidemark::answers
