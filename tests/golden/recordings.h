// Recordings as they lie in these folders: text packed with gzip, one file each.
#pragma once
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace tidemark {

/// Where a test's recordings are: beside it, or in another folder that the environment names.
inline std::filesystem::path recordings_folder() {
  const char* other = std::getenv("TIDEMARK_RECORDINGS");
  return other ? other : TIDEMARK_RECORDINGS;
}

/// Empty when there is no such file.
inline std::string unpack(const std::filesystem::path& path) {
  std::string text;
  gzFile file = gzopen(path.c_str(), "rb");
  char buffer[1 << 16];
  for (int read = 0; file && (read = gzread(file, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(read));
  if (file) gzclose(file);
  return text;
}

/// The names of a folder's `*.txt.gz`, in alphabetical order.
inline std::vector<std::string> recordings_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".gz") names.push_back(entry.path().stem().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace tidemark
