// What can be asked, by name: one list, from which the page's core, the Python module's library and the server answer.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "answers/data.h"
#include "base/error.h"
#include "base/value.h"
#include "plan/progress.h"

namespace tidemark::answers {

struct Topic {
  std::string_view name, summary;
  std::string (*answer)(const Value& asked, const Data& data, const plan::Told& told);
  Value (*keys)();                // of a question, each with its JSON Schema
  std::string_view media_type;    // of an answer
  bool is_served = true;          // over HTTP
  std::string_view example = {};  // a question, as JSON
};

std::span<const Topic> topics();

struct Answer {
  std::string text;  // JSON as a rule; of an error {"error": {"code", "message", "where", "hint", …}}
  std::optional<Errc> error;
  bool is_bug = false;
  bool is_good() const { return !error && !is_bug; }
};

/// The answer to `question`, a JSON text.  A plan tells how far it is.  Throws nothing but std::bad_alloc.
Answer answer(std::string_view topic, std::string_view question, const Data& data, const plan::Told& told = {});

}  // namespace tidemark::answers
