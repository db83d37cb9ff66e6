#include "base/check.h"

#include <fmt/format.h>

#include <string_view>

namespace tidemark {

void check_failed(const char* condition, const char* file, int line, const std::string& message) {
  // The build's folders are nobody's business in a message; the file's own name is enough to find it.
  const std::string_view path = file;
  const std::string_view name = path.substr(path.rfind('/') + 1);
  throw InternalError(fmt::format("{} [{}:{}: {}]", message, name, line, condition));
}

}  // namespace tidemark
