#include "run_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <system_error>

#include "base/error.h"

namespace tidemark::cli {

RunFolder::RunFolder(const Environment& environment) {
  std::string pattern = environment.get("TMPDIR").value_or("/tmp");
  // The folder's name ends up in lists that colons and spaces separate.
  if (pattern.empty() || pattern.find_first_of(": ;") != std::string::npos) pattern = "/tmp";
  pattern += "/tidemark-run-XXXXXX";
  if (!::mkdtemp(pattern.data())) throw Error(Errc::io, std::generic_category().message(errno), pattern);
  path_ = pattern;
}

RunFolder::~RunFolder() {
  std::error_code ignored;  // nothing useful can be done about it here
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace tidemark::cli
