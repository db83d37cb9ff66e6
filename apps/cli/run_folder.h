// A private folder for one run, gone when the run is over.
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
};

}  // namespace tidemark::cli
