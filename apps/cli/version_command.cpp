// tidemark version
#include <fmt/format.h>

#include "commands.h"

namespace tidemark::cli {

const char* version_text() { return TIDEMARK_VERSION; }

int version() {
  fmt::print("tidemark {}\n", version_text());
  return 0;
}

}  // namespace tidemark::cli
