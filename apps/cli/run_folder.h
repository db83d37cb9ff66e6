// A private folder for one run, gone when the run is over.  A run that was killed outright cannot remove its own: the
// next one does.  Which folders are still in use is seen by a lock that the kernel drops with the process.
#pragma once
#include <filesystem>

#include "environment.h"

namespace tidemark::cli {

class RunFolder {
 public:
  explicit RunFolder(const Environment& environment);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;
};

}  // namespace tidemark::cli
