// The one exception type for what a user or an input did wrong.  A bug is an InternalError (base/check.h) instead.
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>

namespace tidemark {

enum class Errc {
  usage,         // an option or argument that cannot be understood
  unknown_name,  // a card, a field, a subcommand that does not exist
  bad_value,     // understood, but not a value that makes sense
  bad_file,      // a file whose content is not what it should be
  not_found,     // a file, a command, an interpreter that is not there
  unsupported,   // understood, and not something Tidemark can do
  io,            // the operating system refused
};

std::string_view name_of(Errc code);

/// `message` says what is wrong, `where` in which file, field or option (may be empty), `hint` what to do (may be
/// empty).
class Error : public std::runtime_error {
 public:
  Error(Errc code, std::string message, std::string where = {}, std::string hint = {});

  Errc code() const { return code_; }
  const std::string& message() const { return message_; }
  const std::string& where() const { return where_; }
  const std::string& hint() const { return hint_; }

 private:
  Errc code_;
  std::string message_, where_, hint_;
};

}  // namespace tidemark
