// The Python that a user has active, and what is installed in it, read from its folders: starting it takes longer than
// a prediction.
#pragma once
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "environment.h"

namespace tidemark::cli {

struct ActivePython {
  std::filesystem::path interpreter, prefix;
  std::vector<std::filesystem::path> package_folders;
  std::vector<std::filesystem::path> base_folders;  // packages of the Python below, where an environment sees those too
};

/// VIRTUAL_ENV, CONDA_PREFIX, or the first python on the PATH.
std::optional<ActivePython> active_python(const Environment& environment);

/// The environment that this command is installed in, else the active one.
std::optional<ActivePython> own_python(const Environment& environment);

/// "2.11.0+cu130": what the package's dist-info says.  Nothing when it is not installed, or installed twice.
std::optional<std::string> installed_version(const ActivePython& python, const std::string& package);

/// Why nothing can be asked of it that takes these packages; empty where it can.
std::string what_lacks(const std::optional<ActivePython>& python, std::initializer_list<const char*> packages);

}  // namespace tidemark::cli
