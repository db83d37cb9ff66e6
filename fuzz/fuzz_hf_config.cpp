// Any text is a model's configuration or an Error; what was read can be written and read again.
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "io/hf_config.h"
#include "io/value_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tidemark;
  Value config;
  try {
    config = io::read_hf_config({reinterpret_cast<const char*>(data), size}, "input");
  } catch (const Error&) {
    return 0;
  }
  if (!(io::read_hf_config(io::value_to_json(config), "again") == config)) std::abort();
  return 0;
}
