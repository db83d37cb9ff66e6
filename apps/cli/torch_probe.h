// What torch a Python has, found without importing it: an import takes seconds and would start CUDA's libraries.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "environment.h"
#include "interpreter.h"

namespace tidemark::cli {

struct TorchInstall {
  std::string python;              // sys.executable
  std::string python_version;      // "3.11.2"
  std::filesystem::path folder;    // …/site-packages/torch
  std::string version, cuda, git;  // "2.11.0+cu130", "13.0"
  int cudnn_version = 0;  // 91900: what this torch pins, as the library says it of itself; 0 if it does not say
  int nccl_version = 0;   // 22809
  std::string others;     // a sentence about other torches of the same environment, or ""

  std::filesystem::path lib() const { return folder / "lib"; }
  std::string short_version() const { return version.substr(0, version.find('+')); }
};

/// Throws Error{unsupported} by name: no torch, torch without CUDA, a torch that is too old, another kind of machine.
TorchInstall probe_torch(const Interpreter& interpreter, const Environment& environment);

/// The same for what the probe printed; the machine's `uname` fields are given.
TorchInstall torch_from_probe(const std::string& probe_output, const std::string& interpreter);
void require_machine(const std::string& system, const std::string& machine);

}  // namespace tidemark::cli
