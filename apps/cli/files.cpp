#include "files.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <system_error>

#include "base/error.h"
#include "base/read_stream.h"

namespace tidemark::cli {
namespace {

std::string why() { return std::generic_category().message(errno); }

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) throw Error(Errc::io, "it is a folder", path.string());
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(errno == ENOENT ? Errc::not_found : Errc::io, "cannot read: " + why(), path.string());
  std::string text = read_stream(file);
  if (file.bad()) throw Error(Errc::io, "cannot read it", path.string());
  return text;
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.flush()) throw Error(Errc::io, "cannot write: " + why(), path.string());
}

void write_output(const std::string& path, std::string_view text) {
  if (path == "-")
    std::fwrite(text.data(), 1, text.size(), stdout);
  else if (!path.empty())
    write_file(path, text);
}

void require_writable(const std::string& path, const char* option) {
  if (path.empty() || path == "-") return;
  const std::filesystem::path absolute = std::filesystem::absolute(path);
  std::error_code error;
  if (std::filesystem::is_directory(absolute, error))
    throw Error(Errc::bad_value, fmt::format("{} is a folder", path), option, "name a file in it");
  const std::filesystem::path folder = absolute.parent_path();
  if (!std::filesystem::is_directory(folder, error))
    throw Error(Errc::not_found, fmt::format("the folder {} does not exist", folder.string()), option);
  if (::access(folder.c_str(), W_OK) != 0)
    throw Error(Errc::io, fmt::format("cannot write to {}: {}", folder.string(), why()), option);
}

void Fingerprint::add(std::string_view text) {
  for (unsigned char c : text) state_ = (state_ ^ c) * 0x100000001b3ULL;
  state_ = (state_ ^ 0xffU) * 0x100000001b3ULL;  // "ab","c" is not "a","bc"
}

void Fingerprint::add_file(const std::filesystem::path& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) throw Error(Errc::io, why(), path.string());
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  add(fmt::format("{} {} {} {}", error ? path.string() : real.string(), info.st_size, info.st_mtim.tv_sec,
                  info.st_mtim.tv_nsec));
}

std::string Fingerprint::hex() const { return fmt::format("{:016x}", state_); }

}  // namespace tidemark::cli
