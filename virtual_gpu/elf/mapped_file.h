// A file mapped read-only: torch's libraries are half a gigabyte, of which only the symbol tables are touched.
#pragma once
#include <cstddef>
#include <filesystem>
#include <span>

namespace tidemark::elf {

class MappedFile {
 public:
  /// Throws Error{not_found} or Error{io}.
  explicit MappedFile(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {data_, size_bytes_}; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_bytes_ = 0;
};

}  // namespace tidemark::elf
