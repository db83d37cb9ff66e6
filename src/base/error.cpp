#include "base/error.h"

#include <utility>

namespace tidemark {
namespace {

// what() carries all four fields on one line, for a log or a test that prints the exception as it is.
std::string one_line(std::string_view message, std::string_view where, std::string_view hint) {
  std::string text;
  if (!where.empty()) text.append(where).append(": ");
  text.append(message);
  if (!hint.empty()) text.append(" (").append(hint).append(")");
  return text;
}

}  // namespace

std::string_view name_of(Errc code) {
  switch (code) {
    case Errc::usage: return "usage";
    case Errc::unknown_name: return "unknown_name";
    case Errc::bad_value: return "bad_value";
    case Errc::bad_file: return "bad_file";
    case Errc::not_found: return "not_found";
    case Errc::unsupported: return "unsupported";
    case Errc::io: return "io";
  }
  return "unknown";
}

Error::Error(Errc code, std::string message, std::string where, std::string hint)
    : std::runtime_error(one_line(message, where, hint)),
      code_(code),
      message_(std::move(message)),
      where_(std::move(where)),
      hint_(std::move(hint)) {}

}  // namespace tidemark
