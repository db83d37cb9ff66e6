// TM_CHECK: a statement about the program itself that holds in release builds too.  Never reachable from input.
#pragma once
#include <stdexcept>
#include <string>

namespace tidemark {

/// A bug in Tidemark.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void check_failed(const char* condition, const char* file, int line, const std::string& message);

}  // namespace tidemark

#define TM_CHECK(condition, message)                                                       \
  do {                                                                                     \
    if (!(condition)) ::tidemark::check_failed(#condition, __FILE__, __LINE__, (message)); \
  } while (false)
