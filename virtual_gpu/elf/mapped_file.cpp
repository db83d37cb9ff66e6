#include "elf/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace tidemark::elf {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, int error) {
  throw Error(error == ENOENT ? Errc::not_found : Errc::io, std::generic_category().message(error), path.string());
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail(path, errno);
  struct stat info{};
  const bool known = ::fstat(file, &info) == 0;
  const int stat_error = errno;
  void* data = nullptr;
  if (known && info.st_size > 0) {
    size_bytes_ = static_cast<std::size_t>(info.st_size);
    data = ::mmap(nullptr, size_bytes_, PROT_READ, MAP_PRIVATE, file, 0);
  }
  const int map_error = errno;
  ::close(file);
  if (!known) fail(path, stat_error);
  if (data == MAP_FAILED) fail(path, map_error);
  data_ = static_cast<const std::byte*>(data);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_bytes_(std::exchange(other.size_bytes_, 0)) {}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<std::byte*>(data_), size_bytes_);
}

}  // namespace tidemark::elf
