// Small files, read and written whole.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace tidemark::cli {

/// Throw Error{not_found} or Error{io}.
std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, std::string_view text);

/// What an option names: a file, "-" for stdout, or nothing.  Throws Error{io}.
void write_output(const std::string& path, std::string_view text);

/// Throws Error when a file at `path` could not be written later: its folder is missing, or it is a folder itself.
void require_writable(const std::string& path, const char* option);

/// FNV-1a over what identifies a file without reading it: name, size, time of change.
class Fingerprint {
 public:
  void add(std::string_view text);
  /// By where it really lies: an environment that is reached by a link is the same one.
  void add_file(const std::filesystem::path& path);
  std::string hex() const;

 private:
  std::uint64_t state_ = 0xcbf29ce484222325ULL;
};

}  // namespace tidemark::cli
