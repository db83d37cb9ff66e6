// tidemark version
#include <fmt/format.h>

#include "commands.h"
#include "resources.h"

namespace tidemark::cli {

int version() {
  fmt::print("tidemark {}\n", version_text());
  return 0;
}

}  // namespace tidemark::cli
