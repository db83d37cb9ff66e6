// Any text is a spec or an Error, and what YAML said can be said in JSON.
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "io/spec_yaml.h"
#include "io/value_json.h"
#include "io/value_yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tidemark;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    io::read_spec_yaml(text, "input");
  } catch (const Error&) {
  }
  Value value;
  try {
    value = io::value_from_yaml(text, "input");
  } catch (const Error&) {
    return 0;
  }
  // Bytes that are not UTF-8 are replaced once, and from then on nothing changes.
  Value once, twice;
  try {
    once = io::value_from_json(io::value_to_json(value), "json");
    twice = io::value_from_json(io::value_to_json(once), "again");
  } catch (const Error&) {  // keys that differed in such bytes alone are now the same
    return 0;
  }
  if (!(once == twice)) std::abort();
  return 0;
}
