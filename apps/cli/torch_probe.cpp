#include "torch_probe.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <charconv>
#include <map>
#include <sstream>

#include "base/error.h"
#include "process.h"

namespace tidemark::cli {
namespace {

constexpr int kOldestMajor = 2, kOldestMinor = 6;

// Prints "key=value" lines.  version.py is read as a syntax tree: executing it may import torch.
constexpr const char* kProbe = R"(
import ast, importlib.util, os, sys
sys.path[:1] = sys.argv[1:]
print('executable=' + (sys.executable or ''))
print('python=%d.%d.%d' % sys.version_info[:3])
print('implementation=' + sys.implementation.name)
try:
    spec = importlib.util.find_spec('torch')
except Exception:
    spec = None
origin = spec.origin if spec else None
if origin and os.path.basename(origin) == '__init__.py':
    folder = os.path.dirname(os.path.abspath(origin))
    print('folder=' + folder)
    values = {}
    try:
        with open(os.path.join(folder, 'version.py')) as file:
            tree = ast.parse(file.read())
    except Exception:
        tree = ast.parse('')
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        for target in targets:
            if isinstance(target, ast.Name) and isinstance(node.value, ast.Constant):
                values[target.id] = node.value.value
    for key in ('__version__', 'cuda', 'hip', 'git_version'):
        print('%s=%s' % (key, values.get(key) or ''))
    try:
        import importlib.metadata, re
        for line in importlib.metadata.requires('torch') or ():
            found = re.match(r'nvidia-(cudnn|nccl)-cu\d+\W*==\s*([\d.]+)', line)
            if found:
                print('%s=%s' % found.groups())
        for number, one in enumerate(importlib.metadata.distributions(name='torch')):
            print('installed%d=%s in %s' % (number, one.version, os.path.abspath(one.locate_file(''))))
    except Exception:
        pass
)";

std::map<std::string, std::string> read_lines(const std::string& text) {
  std::map<std::string, std::string> values;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (const std::size_t equals = line.find('='); equals != std::string::npos)
      values[line.substr(0, equals)] = line.substr(equals + 1);
  return values;
}

/// "9.19.0.56" as the library itself says it: 91900 (CUDNN_VERSION, NCCL_VERSION_CODE); 0 for "".
int library_number(const std::string& version) {
  int parts[3] = {};
  const char* at = version.data();
  const char* end = at + version.size();
  for (int& part : parts) {
    const auto read = std::from_chars(at, end, part);
    if (read.ec != std::errc()) break;
    at = read.ptr == end ? end : read.ptr + 1;
  }
  return parts[0] * 10000 + parts[1] * 100 + parts[2];
}

/// Python imports the first torch that it finds, and pip may know of others: said, since one of them may have been
/// meant.
std::string other_torches(std::map<std::string, std::string>& values) {
  const std::string used =
      values["__version__"] + " in " + std::filesystem::path(values["folder"]).parent_path().string();
  // Without "+cu130", which pip may not know.  Built in place, a torch is imported from another folder than pip's.
  const auto number = [](const std::string& text) { return text.substr(0, text.find_first_of("+ ")); };
  std::string others;
  for (const auto& [key, installed] : values)
    if (key.starts_with("installed") && number(installed) != number(used))
      others += (others.empty() ? "" : " and ") + installed;
  if (others.empty()) return others;
  return fmt::format("torch {} is what Python imports; torch {} is installed as well", used, others);
}

bool is_too_old(const std::string& version) {
  int major = 0, minor = 0;
  const char* end = version.data() + version.size();
  const auto after_major = std::from_chars(version.data(), end, major);
  if (after_major.ec != std::errc() || after_major.ptr == end) return true;
  std::from_chars(after_major.ptr + 1, end, minor);
  return major < kOldestMajor || (major == kOldestMajor && minor < kOldestMinor);
}

}  // namespace

void require_machine(const std::string& system, const std::string& machine) {
  if (system != "Linux" || (machine != "x86_64" && machine != "aarch64"))
    throw Error(Errc::unsupported,
                fmt::format("Tidemark needs Linux on x86-64 or aarch64, this is {} on {}", system, machine));
}

TorchInstall torch_from_probe(const std::string& probe_output, const std::string& interpreter) {
  auto values = read_lines(probe_output);
  if (values["implementation"] != "cpython")
    throw Error(Errc::unsupported, fmt::format("{} is not CPython", interpreter));
  if (values["folder"].empty())
    throw Error(Errc::unsupported, fmt::format("no torch in {}", interpreter), {},
                "activate the environment that has it, or name its interpreter after --");
  TorchInstall torch{values["executable"],
                     values["python"],
                     values["folder"],
                     values["__version__"],
                     values["cuda"],
                     values["git_version"],
                     library_number(values["cudnn"]),
                     library_number(values["nccl"]),
                     other_torches(values)};
  if (torch.python.empty()) torch.python = interpreter;
  if (torch.version.empty())
    throw Error(Errc::unsupported, "this torch does not say its version", (torch.folder / "version.py").string());
  if (is_too_old(torch.version))
    throw Error(Errc::unsupported, fmt::format("torch {} is too old", torch.version), {},
                fmt::format("Tidemark needs torch {}.{} or later", kOldestMajor, kOldestMinor));
  std::error_code error;
  if (torch.cuda.empty() || !std::filesystem::exists(torch.lib() / "libtorch_cuda.so", error)) {
    const std::string kind = values["hip"].empty() ? "is built without CUDA" : "is built for ROCm, not for CUDA";
    throw Error(Errc::unsupported, fmt::format("torch {} {}", torch.version, kind), {},
                "install a CUDA build of it; NVIDIA's own packages are not needed: pip install --no-deps torch");
  }
  return torch;
}

TorchInstall probe_torch(const Interpreter& interpreter, const Environment& environment) {
  struct utsname machine{};
  if (::uname(&machine) == 0) require_machine(machine.sysname, machine.machine);
  std::vector<std::string> command = interpreter.command;
  command.insert(command.end(), {"-c", kProbe});
  // `python x.py` looks for modules beside x.py first.
  if (interpreter.script && interpreter.script->extension() == ".py")
    command.push_back(std::filesystem::absolute(*interpreter.script).parent_path().string());
  const Finished probe = run_helper(command, environment);
  if (probe.exit_code != 0)
    throw Error(Errc::unsupported, fmt::format("this Python does not run (exit code {})", probe.exit_code),
                interpreter.command[0], probe.errors.substr(0, probe.errors.find('\n')));
  return torch_from_probe(probe.output, interpreter.command[0]);
}

}  // namespace tidemark::cli
