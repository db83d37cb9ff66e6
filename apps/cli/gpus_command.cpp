// tidemark gpus: the cards that --gpu knows.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/bytes.h"
#include "card_choice.h"
#include "commands.h"
#include "io/text_table.h"
#include "resources.h"

namespace tidemark::cli {

void add_gpus(CLI::App& app, GpusOptions& options) {
  CLI::App* command = app.add_subcommand("gpus", "List the cards that --gpu knows.");
  command->add_flag("--json", options.json, "All figures of every card, with their sources, as JSON");
}

int gpus(const GpusOptions& options) {
  const io::Catalogue catalogue = load_catalogue(find_resources().data);
  if (options.json) {
    fmt::print("{}", io::write_catalogue(catalogue));
    return 0;
  }
  io::TextTable table({"--gpu", "memory", "bytes", "SMs", "compute", "name"});
  for (const Card& card : catalogue)
    table.add({card.key, format_bytes(card.total_bytes), group_digits(card.total_bytes),
               fmt::format("{}", card.multiprocessors),
               fmt::format("{}.{}", card.compute_capability_major, card.compute_capability_minor), card.name});
  fmt::print("{}", table.text());
  return 0;
}

}  // namespace tidemark::cli
