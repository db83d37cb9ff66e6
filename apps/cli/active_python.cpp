#include "active_python.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "process.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    names.push_back(at->path().filename().string());
  return names;
}

/// LIB/python3.11/PACKAGES, of each Python that is there or of the one of that name.
void add_folders(std::vector<fs::path>& folders, const fs::path& lib, const std::string& python, const char* packages) {
  for (const std::string& name : names_in(lib))
    if (name.starts_with("python3.") && (!python.starts_with("python3.") || name == python))
      folders.push_back(lib / name / packages);
}

/// site.getsitepackages() and site.getusersitepackages(), of Debian's Python too.
ActivePython of_system(const fs::path& command, const Environment& environment) {
  std::error_code error;
  const fs::path real = fs::canonical(command, error);
  const fs::path prefix = (error ? command : real).parent_path().parent_path();
  const std::string name = real.filename().string();
  ActivePython python{command, prefix, {}, {}};
  if (const auto home = environment.get("HOME"))
    add_folders(python.package_folders, fs::path(*home) / ".local" / "lib", name, "site-packages");
  add_folders(python.package_folders, prefix / "local" / "lib", name, "dist-packages");
  python.package_folders.push_back(prefix / "lib" / "python3" / "dist-packages");
  add_folders(python.package_folders, prefix / "lib", name, "site-packages");
  return python;
}

/// What pyvenv.cfg says of a key: venv writes `home = /usr/bin`, `include-system-site-packages = true`.
std::string said_by_venv(const fs::path& prefix, std::string_view key) {
  std::ifstream file(prefix / "pyvenv.cfg");
  for (std::string line; std::getline(file, line);) {
    const std::size_t sign = line.find(" = ");
    if (sign != std::string::npos && std::string_view(line).substr(0, sign) == key) return line.substr(sign + 3);
  }
  return {};
}

ActivePython of_prefix(const fs::path& prefix, const Environment& environment) {
  ActivePython python{prefix / "bin" / "python", prefix, {}, {}};
  add_folders(python.package_folders, prefix / "lib", {}, "site-packages");
  if (said_by_venv(prefix, "include-system-site-packages") == "true")
    python.base_folders = of_system(fs::path(said_by_venv(prefix, "home")) / "python3", environment).package_folders;
  return python;
}

std::vector<std::string> versions_in(const std::vector<fs::path>& folders, const std::string& package) {
  constexpr std::string_view kSuffix = ".dist-info";
  const std::string prefix = package + "-";
  std::vector<std::string> versions;
  for (const fs::path& folder : folders)
    for (const std::string& name : names_in(folder))
      if (name.starts_with(prefix) && name.ends_with(kSuffix))
        versions.push_back(name.substr(prefix.size(), name.size() - prefix.size() - kSuffix.size()));
  return versions;
}

}  // namespace

std::optional<ActivePython> active_python(const Environment& environment) {
  std::error_code ignored;
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const auto prefix = environment.get(variable); prefix && fs::is_directory(*prefix, ignored))
      return of_prefix(*prefix, environment);
  for (const char* name : {"python", "python3"}) {
    const auto command = find_command(name, environment);
    if (!command) continue;
    const fs::path prefix = fs::absolute(*command).parent_path().parent_path();
    return fs::exists(prefix / "pyvenv.cfg", ignored) ? of_prefix(prefix, environment)
                                                      : of_system(*command, environment);
  }
  return std::nullopt;
}

std::optional<ActivePython> own_python(const Environment& environment) {
  std::error_code error;
  const fs::path command = fs::read_symlink("/proc/self/exe", error), prefix = command.parent_path().parent_path();
  for (const char* sign : {"pyvenv.cfg", "conda-meta"})
    if (!error && fs::exists(prefix / sign, error) && fs::exists(prefix / "bin" / "python", error))
      return of_prefix(prefix, environment);
  return active_python(environment);
}

std::optional<std::string> installed_version(const ActivePython& python, const std::string& package) {
  std::vector<std::string> versions = versions_in(python.package_folders, package);
  if (versions.empty()) versions = versions_in(python.base_folders, package);
  const bool differ = std::adjacent_find(versions.begin(), versions.end(), std::not_equal_to<>()) != versions.end();
  if (versions.empty() || differ) return std::nullopt;
  return versions.front();
}

std::string what_lacks(const std::optional<ActivePython>& python, std::initializer_list<const char*> packages) {
  if (!python) return "no Python is active";
  for (const char* package : packages)
    if (!installed_version(*python, package)) return fmt::format("{} has no {}", python->interpreter.string(), package);
  return {};
}

}  // namespace tidemark::cli
