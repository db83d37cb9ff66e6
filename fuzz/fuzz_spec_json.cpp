// Any text is a spec or an Error; a spec that was read can be written and read again.
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "io/spec_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tidemark;
  Spec spec;
  try {
    spec = io::read_spec_json({reinterpret_cast<const char*>(data), size}, "input");
  } catch (const Error&) {
    return 0;
  }
  const std::string written = io::write_spec_json(spec);
  if (io::write_spec_json(io::read_spec_json(written, "again")) != written) std::abort();
  return 0;
}
