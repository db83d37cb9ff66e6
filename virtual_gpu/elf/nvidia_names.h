// Which functions and which libraries are NVIDIA's, by name.
#pragma once
#include <string>
#include <string_view>

namespace tidemark::elf {

/// A C function of one of NVIDIA's libraries that a stub may stand in for.  The driver's own functions (`cuInit`) are
/// not: Triton looks them up by name and must find the real stand-in, never a stub that only says success.
bool is_nvidia_function(std::string_view symbol);

/// "libcublas.so.13", "libnccl.so.2", …
bool is_nvidia_library(std::string_view soname);

/// The name of a library before a wheel took a copy of it: "libcudart.faf08d9a.so.13" and "libcudart-faf08d9a.so.13"
/// are "libcudart.so.13" (auditwheel 6.4, repair.py, copylib).
std::string name_before_vendoring(std::string_view file_name);

}  // namespace tidemark::elf
