#include <gtest/gtest.h>
// rapidcheck's header wants gtest first.
#include <rapidcheck/gtest.h>

#include <set>

#include "base/error.h"
#include "elf/elf_file.h"
#include "elf/elf_stub.h"

namespace tidemark::elf {
namespace {

rc::Gen<std::string> symbol_name() {
  return rc::gen::nonEmpty(rc::gen::container<std::string>(
      rc::gen::oneOf(rc::gen::inRange('a', '{'), rc::gen::inRange('A', '['), rc::gen::just('_'))));
}

RC_GTEST_PROP(Elf, WhatIsWrittenIsRead, ()) {
  const auto names = *rc::gen::container<std::set<std::string>>(symbol_name());
  StubLibrary library;
  library.machine = *rc::gen::element(Machine::x86_64, Machine::aarch64);
  library.soname = *symbol_name();
  library.needed = *rc::gen::container<std::vector<std::string>>(symbol_name());
  library.functions.assign(names.begin(), names.end());
  const auto bytes = write_stub_library(library);
  const ElfFile file = read_elf(bytes, "written");
  RC_ASSERT(file.soname == library.soname);
  RC_ASSERT(std::vector<std::string>(file.needed.begin(), file.needed.end()) == library.needed);
  std::set<std::string> read;
  for (const DynamicSymbol& symbol : file.symbols) read.emplace(symbol.name);
  RC_ASSERT(read == names);
}

RC_GTEST_PROP(Elf, AnyBytesAreReadOrRefused, (std::vector<std::uint8_t> noise)) {
  try {
    read_elf(std::as_bytes(std::span(noise)), "noise");
  } catch (const Error&) {
  }
}

}  // namespace
}  // namespace tidemark::elf
