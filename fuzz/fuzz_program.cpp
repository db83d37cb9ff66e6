// Any text is a captured program or an Error, and a program can be trained or an Error says why not.
#include <cstdint>

#include "base/error.h"
#include "estimate/predict.h"
#include "io/program_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tidemark;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<Program> programs;
  try {
    programs.push_back(io::read_program_text(text, "input"));
    // What is read runs as often as it says: neither rounds nor layers by the thousand here.
    if (text.find("repeat") != text.npos || text.find("..") != text.npos) return 0;
    Card card;
    card.total_bytes = std::int64_t{80} << 30;
    card.compute_capability_major = 9;
    card.multiprocessors = 132;
    card.max_threads_per_multiprocessor = 2048;
    const Program& program = programs.front();
    Spec spec;
    spec.batch = 2;
    spec.seq = 64;
    spec.attn = program.attention == "eager" ? Attention::eager : Attention::sdpa;
    predict(spec, program.config, card, {.on_event = {}, .programs = programs});
  } catch (const Error&) {
  }
  return 0;
}
