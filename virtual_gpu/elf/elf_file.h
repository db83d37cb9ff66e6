// The dynamic section and dynamic symbols of a 64-bit ELF shared object (System V gABI, chapter 5).
// The reader trusts nothing: every offset is checked against the file, and a bad file is an Error, never a crash.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::elf {

struct DynamicSymbol {
  std::string_view name;
  bool defined = false;
};

/// Views into the bytes that were read: they must outlive it.
struct ElfFile {
  std::uint16_t machine = 0;  // EM_X86_64, EM_AARCH64, …
  std::string_view soname;    // empty when there is none
  std::vector<std::string_view> needed;
  std::vector<DynamicSymbol> symbols;  // without the null symbol and without local ones
};

/// Throws Error{bad_file, …, where}.
ElfFile read_elf(std::span<const std::byte> bytes, const std::string& where);

}  // namespace tidemark::elf
