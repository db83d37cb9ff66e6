#include "io/serving_text.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "io/text_table.h"

namespace tidemark::io {

std::string serving_to_text(const ServingReport& serving) {
  TextTable table({fmt::format("{} {} counts", serving.engine, serving.version), "", "bytes"});
  for (const NamedBytes& term : serving.terms)
    table.add({term.name, format_bytes(term.bytes), group_digits(term.bytes)});
  std::string text = serving.terms.empty() ? std::string() : table.text(2);
  if (serving.tokens > 0)
    text +=
        fmt::format("  KV cache: {} tokens in {} blocks of {}; {:.2f} sequences of {} tokens at a time, {} allowed\n",
                    group_digits(serving.tokens), group_digits(serving.blocks), serving.block_tokens,
                    serving.concurrency, group_digits(serving.length), group_digits(serving.most_sequences));
  if (serving.requests > 0)
    text += fmt::format("  requests: {} sent, {} answered{}\n", serving.requests, serving.answered,
                        serving.failure.empty() ? "" : "; " + serving.failure);
  return text;
}

}  // namespace tidemark::io
