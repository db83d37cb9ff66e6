// tidemark answer: a question as JSON, from stdin, with no file, environment or network looked at for it: what the
// Python module asks where it cannot load the library itself.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>

#include "answers/topics.h"
#include "base/read_stream.h"
#include "commands.h"
#include "resources.h"

namespace tidemark::cli {

void add_answer(CLI::App& app, AnswerOptions& options) {
  CLI::App* command = app.add_subcommand("answer", "Answer a question that is JSON on stdin, as JSON on stdout.");
  std::string topics;
  for (const answers::Topic& topic : answers::topics())
    topics += fmt::format("{}{}", topics.empty() ? "" : ", ", topic.name);
  command->add_option("topic", options.topic, fmt::format("What is asked: {}", topics))->type_name("TOPIC")->required();
  command->footer(R"(Example:
  echo '{"spec": {"model": {"model_type": "gpt2"}, "seq": 1024, "gpu": "l4"}}' | tidemark answer predict)");
}

int answer(const AnswerOptions& options) {
  const answers::Data data =
      answers::data_of_folder(find_resources().data, version_text(), answers::ReadPrograms::when_asked);
  const std::string question = read_stream(std::cin);
  const answers::Answer answer = answers::answer(options.topic, question, data);
  std::fwrite(answer.text.data(), 1, answer.text.size(), stdout);
  if (answer.is_bug) return 70;
  if (!answer.error) return 0;
  return *answer.error == Errc::unsupported ? 3 : 2;
}

}  // namespace tidemark::cli
