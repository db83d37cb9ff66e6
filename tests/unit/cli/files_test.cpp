#include "files.h"

#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "support/throws.h"

namespace tidemark::cli {
namespace {

TEST(Files, ComeBackAsWritten) {
  const TemporaryFolder folder;
  write_file(folder / "f", std::string("a\0b\n", 4));
  EXPECT_EQ(read_file(folder / "f"), std::string("a\0b\n", 4));
}

TEST(Files, NameTheReason) {
  const TemporaryFolder folder;
  EXPECT_EQ(error_of([&] { read_file(folder / "none"); })->code(), Errc::not_found);
  EXPECT_EQ(error_of([&] { read_file(folder.path()); })->code(), Errc::io);
  EXPECT_EQ(error_of([&] { write_file(folder / "no/folder", ""); })->code(), Errc::io);
}

TEST(RequireWritable, LooksBeforeTheRunAndNotAfter) {
  const TemporaryFolder folder;
  EXPECT_NO_THROW(require_writable("", "--json"));
  EXPECT_NO_THROW(require_writable("-", "--json"));
  EXPECT_NO_THROW(require_writable((folder / "r.json").string(), "--json"));
  EXPECT_EQ(error_of([&] { require_writable(folder.path().string(), "--json"); })->where(), "--json");
  EXPECT_EQ(error_of([&] { require_writable((folder / "no/r.json").string(), "--json"); })->code(), Errc::not_found);
}

TEST(Fingerprint, ChangesWithContentAndOrder) {
  const auto of = [](std::initializer_list<const char*> texts) {
    Fingerprint print;
    for (const char* text : texts) print.add(text);
    return print.hex();
  };
  EXPECT_EQ(of({"ab", "c"}), of({"ab", "c"}));
  EXPECT_NE(of({"ab", "c"}), of({"a", "bc"}));
  EXPECT_NE(of({"a", "b"}), of({"b", "a"}));
  EXPECT_EQ(of({}).size(), 16U);
}

TEST(Fingerprint, ChangesWithAFile) {
  const TemporaryFolder folder;
  const auto print_of = [&] {
    Fingerprint print;
    print.add_file(folder / "f");
    return print.hex();
  };
  folder.write("f", "one");
  const std::string before = print_of();
  folder.write("f", "three");
  EXPECT_NE(print_of(), before);
}

TEST(Fingerprint, IsOneByWhateverLinkAFileIsReached) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "real");
  folder.write("real/f", "one");
  std::filesystem::create_directory_symlink(folder / "real", folder / "link");
  const auto print_of = [&](const char* name) {
    Fingerprint print;
    print.add_file(folder / name);
    return print.hex();
  };
  EXPECT_EQ(print_of("link/f"), print_of("real/f"));
}

TEST(ReadFile, HasMoreThanABlockOfIt) {
  const TemporaryFolder folder;
  std::string text(200'000, 'x');
  text[131'072] = '\0';
  folder.write("f", text);
  EXPECT_EQ(read_file(folder / "f"), text);
  folder.write("empty", "");
  EXPECT_EQ(read_file(folder / "empty"), "");
}

}  // namespace
}  // namespace tidemark::cli
