// Facts of the build: the version, and where Tidemark's own files lie: beside the installed executable, or in the
// source and build trees.
#pragma once
#include <filesystem>

namespace tidemark::cli {

struct Resources {
  std::filesystem::path data;                // gpus.json
  std::filesystem::path python;              // tidemark/
  std::filesystem::path torch_extension;     // *.cpp
  std::filesystem::path shipped_extensions;  // the same, compiled for the torches that were known
  std::filesystem::path gpu_library;         // libtidemark_gpu.so
  std::filesystem::path validation;          // a folder per corpus of measured trainings
};

Resources find_resources();

const char* version_text();

}  // namespace tidemark::cli
