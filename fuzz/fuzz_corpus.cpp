// Any text is rows, answers, a corpus or a table of measurements, or an Error; rows and answers that were read are
// written, and read again.
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "io/corpus_json.h"
#include "io/measurements_csv.h"

namespace {

template <class Action>
void accept_errors(Action&& action) {
  try {
    action();
  } catch (const tidemark::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tidemark;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  accept_errors([&] {
    const std::string rows = io::write_rows(io::read_rows(text, "input"));
    if (io::write_rows(io::read_rows(rows, "again")) != rows) std::abort();
  });
  accept_errors([&] {
    const std::string answers = io::write_answers(io::read_answers(text, "input"));
    if (io::write_answers(io::read_answers(answers, "again")) != answers) std::abort();
  });
  accept_errors([&] { io::read_corpus_json(text, "input"); });
  accept_errors([&] { io::read_measurements_csv(text, "input"); });
  return 0;
}
