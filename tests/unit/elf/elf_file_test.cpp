#include "elf/elf_file.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <link.h>

#include <algorithm>
#include <cstring>

#include "elf/elf_stub.h"
#include "elf/mapped_file.h"
#include "support/throws.h"

namespace tidemark::elf {
namespace {

std::vector<std::byte> sample() {
  return write_stub_library(
      {Machine::x86_64, "libsample.so.1", {"libone.so.1", "libtwo.so"}, "$ORIGIN", {"alpha", "beta"}});
}

TEST(ReadElf, ReadsWhatTheWriterWrote) {
  const auto bytes = sample();
  const ElfFile file = read_elf(bytes, "libsample.so.1");
  EXPECT_EQ(file.machine, EM_X86_64);
  EXPECT_EQ(file.soname, "libsample.so.1");
  EXPECT_EQ(file.needed, (std::vector<std::string_view>{"libone.so.1", "libtwo.so"}));
  ASSERT_EQ(file.symbols.size(), 2U);
  EXPECT_EQ(file.symbols[0].name, "alpha");
  EXPECT_TRUE(file.symbols[0].defined);
}

// The C library is written by a linker, with DT_GNU_HASH alone.
TEST(ReadElf, ReadsTheSystemsOwnLibraries) {
  std::string path;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* result) {
        if (std::strstr(info->dlpi_name, "libc.so")) *static_cast<std::string*>(result) = info->dlpi_name;
        return 0;
      },
      &path);
  if (path.empty()) GTEST_SKIP() << "the C library is linked statically";
  const MappedFile mapped(path);
  const ElfFile file = read_elf(mapped.bytes(), path);
  EXPECT_EQ(file.soname, "libc.so.6");
  const auto malloc_symbol =
      std::find_if(file.symbols.begin(), file.symbols.end(), [](const auto& s) { return s.name == "malloc"; });
  ASSERT_NE(malloc_symbol, file.symbols.end());
  EXPECT_TRUE(malloc_symbol->defined);
}

TEST(ReadElf, EveryTruncationIsAnError) {
  const auto bytes = sample();
  // Behind the dynamic section only section headers follow, which are not read.
  std::size_t shortest_good = bytes.size();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto error = error_of([&] { read_elf(std::span(bytes).first(size), "cut.so"); });
    if (!error) {
      shortest_good = std::min(shortest_good, size);
      continue;
    }
    EXPECT_EQ(error->code(), Errc::bad_file);
    EXPECT_LT(size, shortest_good) << "a longer file is worse than a shorter one";
  }
  EXPECT_GT(shortest_good, bytes.size() / 2);
}

TEST(ReadElf, EveryChangedByteIsReadOrRefused) {
  const auto bytes = sample();
  for (std::size_t at = 0; at < bytes.size(); ++at)
    for (const std::byte value : {std::byte{0}, std::byte{0x7f}, std::byte{0xff}}) {
      auto changed = bytes;
      changed[at] = value;
      error_of([&] { read_elf(changed, "changed.so"); });  // anything but a crash or another exception
    }
}

TEST(ReadElf, SaysWhatTheFileIsNot) {
  auto says = [](auto change) {
    auto bytes = sample();
    change(bytes);
    return error_of([&] { read_elf(bytes, "x.so"); }).value().message();
  };
  EXPECT_EQ(says([](auto& b) { b[0] = std::byte{'x'}; }), "it is not an ELF file");
  EXPECT_EQ(says([](auto& b) { b[EI_CLASS] = std::byte{ELFCLASS32}; }), "it is not a 64-bit ELF file");
  EXPECT_EQ(says([](auto& b) { b[EI_DATA] = std::byte{ELFDATA2MSB}; }), "it is not a little-endian ELF file");
  EXPECT_EQ(says([](auto& b) { b.clear(); }), "the file ends inside its header");
}

TEST(MappedFile, NamesAFileThatIsNotThere) {
  const auto error = error_of([] { MappedFile("/nonexistent/libx.so"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Errc::not_found);
  EXPECT_EQ(error->where(), "/nonexistent/libx.so");
}

}  // namespace
}  // namespace tidemark::elf
