#include "torch_extension.h"

#include <gtest/gtest.h>

#include "elf/elf_stub.h"
#include "support/temporary_folder.h"

namespace tidemark::cli {
namespace {

TEST(FirstErrorLine, SkipsNotesAndContext) {
  EXPECT_EQ(first_error_line(
                "In file included from a.cpp:1:\nb.h: In function f:\nb.h:3:5: error: no x\nb.h:4: error: no y\n"),
            "b.h:3:5: error: no x");
  EXPECT_EQ(first_error_line("ld: a.o: undefined reference to `f'\n"), "ld: a.o: undefined reference to `f'");
  EXPECT_EQ(first_error_line("something else\n"), "something else");
  EXPECT_EQ(first_error_line(""), "the compiler said nothing");
}

TEST(UsesCxx11Abi, SeesItInTheSymbols) {
  const TemporaryFolder folder;
  const auto with_symbol = [&](const char* symbol) {
    const auto bytes = elf::write_stub_library({elf::this_machine(), "libc10.so", {}, "", {symbol}});
    return folder.write("libc10.so", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  };
  EXPECT_TRUE(uses_cxx11_abi(
      with_symbol("_ZN3c105ErrorC1ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE")));
  EXPECT_FALSE(uses_cxx11_abi(with_symbol("_ZN3c105ErrorC1ENS_14SourceLocationESs")));
}

}  // namespace
}  // namespace tidemark::cli
