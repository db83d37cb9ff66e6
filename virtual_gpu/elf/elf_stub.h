// Writes a shared object without a compiler: exported functions that all return 0, or none at all.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tidemark::elf {

enum class Machine : std::uint16_t { x86_64 = 62, aarch64 = 183 };  // EM_X86_64, EM_AARCH64

/// The machine that this program was built for.
Machine this_machine();

struct StubLibrary {
  Machine machine = this_machine();
  std::string soname;
  std::vector<std::string> needed;     // DT_NEEDED, in order
  std::string runpath;                 // DT_RUNPATH, left out when empty
  std::vector<std::string> functions;  // exported; each returns 0
};

/// The file's content.  The same request always gives the same bytes.
std::vector<std::byte> write_stub_library(const StubLibrary& library);

}  // namespace tidemark::elf
