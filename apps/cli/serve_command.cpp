// tidemark serve: answers over HTTP, for teams and schedulers.
#include "serve/server.h"

#include <CLI/CLI.hpp>

#include "base/bytes.h"
#include "commands.h"
#include "resources.h"

namespace tidemark::cli {

void add_serve(CLI::App& app, ServeOptions& options) {
  CLI::App* command = app.add_subcommand("serve", "Answer predictions and plans over HTTP.");
  command->footer(
      "Examples:\n  tidemark serve --port 8080 --workers 4\n"
      "  curl -d '{\"spec\": {\"model\": {\"model_type\": \"gpt2\"}, \"seq\": 1024, \"gpu\": \"l4\"}}' http://127.0.0.1:8080/v1/predict");
  command->add_option("--host", options.address.host, "The address to listen on [127.0.0.1]")->type_name("ADDRESS");
  const auto whole = [&](const char* name, std::int64_t& value, std::int64_t low, std::int64_t high, const char* help,
                         const char* group) {
    command->add_option(name, value, help)->check(CLI::Range(low, high).description(""))->type_name("N")->group(group);
  };
  whole("--port", options.address.port, 0, 65535, "The port; 0 for one that is free [8080]", "Options");
  whole("--workers", options.limits.workers, 1, 1024, "Answers that are computed at once [2]", "Limits");
  whole("--waiting", options.limits.waiting, 0, 1 << 20, "Questions that wait for a worker; further ones get 503 [64]",
        "Limits");
  whole("--seconds", options.limits.answer_seconds, 1, 86400, "For an answer [30]", "Limits");
  whole("--idle-seconds", options.limits.idle_seconds, 1, 86400, "For a client to say something [30]", "Limits");
  const auto size = [&](const char* name, std::string& value, const char* help) {
    command->add_option(name, value, help)->type_name("SIZE")->group("Limits");
  };
  size("--body", options.body, "Length of a question [1MiB]");
  size("--worker-memory", options.worker_memory, "Address space of a worker [4GiB]");
}

int serve(ServeOptions options) {
  if (!options.body.empty()) options.limits.body_bytes = parse_bytes(options.body);
  if (!options.worker_memory.empty()) options.limits.worker_bytes = parse_bytes(options.worker_memory);
  const answers::Data data =
      answers::data_of_folder(find_resources().data, version_text(), answers::ReadPrograms::at_once);
  serve::serve(options.address, data, options.limits);
  return 0;
}

}  // namespace tidemark::cli
