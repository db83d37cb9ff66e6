#include "run_folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "files.h"

namespace tidemark::cli {
namespace {

constexpr const char* kPrefix = "tidemark-run-";
constexpr const char* kLock = "lock";

// The descriptor of the lock, or -1 when another process holds it or the file is not ours to open.
int try_lock(const std::filesystem::path& file, int flags) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
  if (descriptor >= 0 && ::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
  if (descriptor >= 0) ::close(descriptor);
  return -1;
}

void remove_abandoned(const std::filesystem::path& parent) {
  std::error_code error;
  std::vector<std::filesystem::path> folders;
  for (auto entry = std::filesystem::directory_iterator(parent, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
    if (entry->path().filename().string().starts_with(kPrefix)) folders.push_back(entry->path());
  for (const auto& folder : folders) {
    const int lock = try_lock(folder / kLock, 0);
    if (lock < 0) continue;  // in use, being made, or another user's
    std::filesystem::remove_all(folder, error);
    ::close(lock);
  }
}

// Folders of multiprocessing's sockets that a process which was killed could not remove: inside/leaving.py notes them.
void remove_socket_folders(const std::filesystem::path& run_folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(run_folder, error)) {
    if (!entry.path().filename().string().starts_with("sockets-")) continue;
    const std::filesystem::path folder = read_file(entry.path());
    if (folder.filename().string().starts_with("pymp-")) std::filesystem::remove_all(folder, error);
  }
}

}  // namespace

RunFolder::RunFolder(const Environment& environment) {
  std::string parent = environment.get("TMPDIR").value_or("/tmp");
  // The folder's name ends up in lists that colons and spaces separate.
  if (parent.empty() || parent.find_first_of(": ;") != std::string::npos) parent = "/tmp";
  remove_abandoned(parent);
  // It gets the name by which others look for it only once it is locked.
  std::string pattern = parent + "/tidemark-new-XXXXXX";
  if (!::mkdtemp(pattern.data())) throw Error(Errc::io, std::generic_category().message(errno), pattern);
  lock_ = try_lock(std::filesystem::path(pattern) / kLock, O_CREAT);
  path_ = parent + "/" + kPrefix + pattern.substr(pattern.size() - 6);
  std::filesystem::rename(pattern, path_);
}

RunFolder::~RunFolder() {
  std::error_code ignored;  // nothing useful can be done about it here
  try {
    remove_socket_folders(path_);
  } catch (const Error&) {
  }
  std::filesystem::remove_all(path_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace tidemark::cli
