// tidemark mcp: a server of the Model Context Protocol over stdio, by python/tidemark/mcp_server.py.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <system_error>

#include "active_python.h"
#include "base/error.h"
#include "commands.h"
#include "process.h"
#include "resources.h"

namespace tidemark::cli {

void add_mcp(CLI::App& app) {
  app.add_subcommand("mcp", "Answer as tools of the Model Context Protocol, over stdin and stdout.")
      ->footer(
          "A client starts it with the environment's own path, such as .venv/bin/tidemark mcp.\n"
          "It needs the SDK: pip install 'tidemark-gpu[mcp]'");
}

int mcp() {
  Environment environment = Environment::of_this_process();
  const auto python = own_python(environment);
  if (const std::string why = what_lacks(python, {"mcp"}); !why.empty())
    throw Error(Errc::unsupported, why, "tidemark mcp",
                "it needs the SDK of the Model Context Protocol: pip install 'tidemark-gpu[mcp]'");
  environment.prepend("PYTHONPATH", find_resources().python.string());
  environment.set("TIDEMARK_BIN", std::filesystem::read_symlink("/proc/self/exe").string());
  std::vector<std::string> command{python->interpreter.string(), "-m", "tidemark.mcp_server"},
      variables = environment.strings();
  ::execve(command[0].c_str(), pointers_to(command).data(), pointers_to(variables).data());
  throw Error(Errc::io, "cannot start: " + std::generic_category().message(errno), command[0]);
}

}  // namespace tidemark::cli
