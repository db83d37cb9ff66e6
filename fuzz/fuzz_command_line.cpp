// Any words are a command line, an Error, or a request for help.  Words are separated by line ends.
#include <cstdint>

#include "base/error.h"
#include "command_line.h"
#include "interpreter.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tidemark;
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < size && words.size() < 50; ++i) {
    const char c = static_cast<char>(data[i]);
    if (c == '\0') continue;  // argv cannot hold it
    if (c == '\n')
      words.emplace_back();
    else
      words.back() += c;
  }
  cli::script_argument(words);
  cli::python_of_script({reinterpret_cast<const char*>(data), size});
  try {
    cli::parse_command_line(words);
  } catch (const Error&) {
  } catch (const cli::HelpRequest&) {
  }
  return 0;
}
