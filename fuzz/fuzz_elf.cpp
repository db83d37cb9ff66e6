// Any bytes are an ELF file or an Error.
#include <cstdint>

#include "base/error.h"
#include "elf/elf_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    tidemark::elf::read_elf(std::as_bytes(std::span(data, size)), "input");
  } catch (const tidemark::Error&) {
  }
  return 0;
}
