#include "elf/elf_stub.h"

#include <dlfcn.h>
#include <elf.h>
#include <gtest/gtest.h>
#include <link.h>

#include <cstring>

#include "elf/elf_file.h"
#include "support/temporary_folder.h"

namespace tidemark::elf {
namespace {

std::string_view as_text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

using Function = long (*)(long, long);

class LoadedStub : public testing::Test {
 protected:
  void* load(const StubLibrary& library, const char* name) {
    return ::dlopen(folder_.write(name, as_text(write_stub_library(library))).c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  TemporaryFolder folder_;
};

TEST_F(LoadedStub, FunctionsReturnZero) {
  StubLibrary library;
  library.soname = "libstub_test.so.1";
  for (int i = 0; i < 700; ++i) library.functions.push_back("stubTest" + std::to_string(i));
  void* handle = load(library, "a.so");
  ASSERT_NE(handle, nullptr) << ::dlerror();
  for (const std::string& name : library.functions) {
    auto* function = reinterpret_cast<Function>(::dlsym(handle, name.c_str()));
    ASSERT_NE(function, nullptr) << name;
    EXPECT_EQ(function(41, 42), 0) << name;
  }
  EXPECT_EQ(::dlsym(handle, "stubTest700"), nullptr);
  ::dlclose(handle);
}

TEST_F(LoadedStub, IsKnownByItsSoname) {
  StubLibrary library;
  library.soname = "libstub_known_by_soname.so.7";
  void* handle = load(library, "b.so");
  ASSERT_NE(handle, nullptr) << ::dlerror();
  void* again = ::dlopen("libstub_known_by_soname.so.7", RTLD_NOW | RTLD_NOLOAD);
  EXPECT_EQ(again, handle);
  ::dlclose(again);
  ::dlclose(handle);
}

TEST_F(LoadedStub, FindsWhatItNeedsBesideItself) {
  StubLibrary functions;
  functions.soname = "libstub_needed.so";
  functions.functions = {"stubNeededFunction"};
  folder_.write("libstub_needed.so", as_text(write_stub_library(functions)));
  StubLibrary empty;
  empty.soname = "libstub_empty.so.1";
  empty.needed = {"libstub_needed.so"};
  empty.runpath = "$ORIGIN";
  void* handle = load(empty, "libstub_empty.so.1");
  ASSERT_NE(handle, nullptr) << ::dlerror();
  EXPECT_NE(::dlsym(handle, "stubNeededFunction"), nullptr);
  ::dlclose(handle);
}

TEST(WriteStubLibrary, AsksForNoExecutableStackAndNoWritableCode) {
  StubLibrary library;
  library.functions = {"f"};
  const auto bytes = write_stub_library(library);
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  bool has_stack = false;
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, bytes.data() + header.e_phoff + static_cast<std::size_t>(i) * sizeof segment, sizeof segment);
    has_stack |= segment.p_type == PT_GNU_STACK && !(segment.p_flags & PF_X);
    if (segment.p_type != PT_LOAD) continue;
    EXPECT_FALSE((segment.p_flags & PF_W) && (segment.p_flags & PF_X));
    EXPECT_EQ(segment.p_offset % segment.p_align, segment.p_vaddr % segment.p_align);
  }
  EXPECT_TRUE(has_stack);
}

TEST(WriteStubLibrary, ReadelfFindsNothingWrong) {
  const TemporaryFolder folder;
  for (Machine machine : {Machine::x86_64, Machine::aarch64}) {
    StubLibrary library{machine, "libreadelf.so.1", {"libc.so.6"}, "$ORIGIN", {"first", "second"}};
    const auto path = folder.write("r.so", as_text(write_stub_library(library)));
    const std::string command =
        "readelf -aW " + path.string() + " 2>" + (folder / "err").string() + " >" + (folder / "out").string();
    if (std::system("command -v readelf >/dev/null") != 0) GTEST_SKIP() << "readelf is not installed";
    ASSERT_EQ(std::system(command.c_str()), 0);
    EXPECT_EQ(std::filesystem::file_size(folder / "err"), 0U);
  }
}

TEST(WriteStubLibrary, WritesTheOtherMachineToo) {
  StubLibrary library{Machine::aarch64, "libarm.so.1", {}, "", {"f"}};
  const auto bytes = write_stub_library(library);
  EXPECT_EQ(read_elf(bytes, "libarm.so.1").machine, EM_AARCH64);
  const std::string_view code("\x00\x00\x80\xd2\xc0\x03\x5f\xd6", 8);  // mov x0, #0; ret
  EXPECT_NE(as_text(bytes).find(code), std::string_view::npos);
}

TEST(WriteStubLibrary, IsTheSameEveryTime) {
  StubLibrary library;
  library.soname = "libsame.so";
  library.functions = {"a", "b"};
  EXPECT_EQ(write_stub_library(library), write_stub_library(library));
}

}  // namespace
}  // namespace tidemark::elf
