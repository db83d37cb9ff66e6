#include "drawn_tokens.h"

#include <algorithm>
#include <vector>

#include "host_twin.h"

namespace tidemark {
namespace {

struct Generation {
  std::int64_t vocabulary, drawn_token;  // the first that neither ends a text nor fills one up
  std::int64_t end_token;                // -1: none is known
  std::int64_t length;                   // 0: as long as the program lets it
  std::int64_t drawn;
  const void* argmax;  // where the last one wrote
};
thread_local std::vector<Generation> running;  // of this thread; the innermost is an assistant's

}  // namespace

std::string draw_tokens(const at::Tensor& tokens, std::int64_t columns, bool by_multinomial) {
  if (running.empty() || running.back().vocabulary != columns) return {};
  Generation& text = running.back();
  if (!by_multinomial || text.argmax != tokens.const_data_ptr()) ++text.drawn;
  text.argmax = by_multinomial ? nullptr : tokens.const_data_ptr();
  const bool ends = text.drawn == text.length && text.end_token >= 0;
  host_alias(tokens).fill_(ends ? text.end_token : text.drawn_token);
  if (ends) return "text that is generated ends after " + std::to_string(text.length) + " tokens (--generate-length)";
  return "tokens that are drawn: the first of the vocabulary that ends no text, which so reaches its full length (--generate-length)";
}

}  // namespace tidemark

using namespace tidemark;

extern "C" {  // for python/tidemark (ctypes)

/// This thread generates text until `tidemark_generation_ends`; the `count` tokens at `never` end a text or fill one
/// up. `end_token` -1: none is known; `length` 0: as long as the program lets it.
void tidemark_generation_begins(std::int64_t vocabulary, std::int64_t end_token, std::int64_t length,
                                const std::int64_t* never, std::size_t count) {
  std::int64_t token = 0;
  while (std::find(never, never + count, token) != never + count) ++token;
  running.push_back(
      {vocabulary, token < vocabulary ? token : 0, end_token < vocabulary ? end_token : -1, length, 0, nullptr});
}
void tidemark_generation_ends() { running.pop_back(); }

}  // extern "C"
