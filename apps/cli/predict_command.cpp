// tidemark predict: the memory of a training from its model's config.json alone.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <fstream>
#include <system_error>

#include "answers/predict_answer.h"
#include "base/error.h"
#include "card_choice.h"
#include "commands.h"
#include "cudnn_asked.h"
#include "estimate/all_ranks.h"
#include "estimate/margin.h"
#include "files.h"
#include "resources.h"

namespace tidemark::cli {
namespace {

// Lines go straight to the file: a long run has millions.
class EventFile {
 public:
  explicit EventFile(const std::string& path) : path_(path) {
    if (path.empty()) return;
    file_.open(path, std::ios::binary);
    if (!file_) fail();
  }

  PredictOptions options() {
    if (path_.empty()) return {};
    return {.on_event = [this](std::string_view line) { file_ << line << '\n'; }};
  }

  void finish() {
    if (!path_.empty() && !file_.flush()) fail();
  }

 private:
  [[noreturn]] void fail() const {
    throw Error(Errc::io, "cannot write: " + std::generic_category().message(errno), path_);
  }

  std::string path_;
  std::ofstream file_;
};

Card card_of(const Spec& spec) {
  const std::string link(kLinkNames[static_cast<std::size_t>(spec.link)]);
  return choose_card(spec.gpu, spec.memory, find_resources().data, link, spec.windows);
}

Report told(Report report, const Asked& asked) {
  report.versions.emplace("tidemark", version_text());
  report.sources = asked.sources;
  std::vector<std::string> assumptions = asked.assumptions;
  if (std::string size = io::size_assumption(load_catalogue(find_resources().data), asked.spec.gpu); !size.empty())
    assumptions.push_back(std::move(size));
  for (const std::string& assumption : assumptions)
    report.assumptions.push_back({.what = assumption, .where = {}, .moves_peak = true});
  return report;
}

/// The report on every rank of what is asked.
Report predicted_ranks(Asked& asked) {
  if (asked.spec.rank != 0) throw Error(Errc::bad_value, "it cannot be combined with --rank", "--all-ranks");
  const Card card = card_of(asked.spec);
  capture_unknown(asked);
  const PredictOptions how{
      .on_event = {}, .programs = *asked.programs, .is_read = true, .ask_cudnn = cudnn_of(asked.spec, card)};
  Report report = predict_all_ranks(asked.spec, asked.model_config, card, how);
  return told(std::move(report), asked);
}

}  // namespace

Report predicted(Asked& asked, const std::string& events) {
  const Card card = card_of(asked.spec);
  capture_unknown(asked);
  EventFile file(events);
  PredictOptions how = file.options();
  how.programs = *asked.programs;
  how.is_read = true;
  how.ask_cudnn = cudnn_of(asked.spec, card);
  Report report = predict(asked.spec, asked.model_config, card, how);
  file.finish();
  return told(std::move(report), asked);
}

void add_predict(CLI::App& app, PredictCommandOptions& options) {
  CLI::App* command = app.add_subcommand("predict", "Predict the memory of a training from a model's config.json.");
  command->footer(
      "Examples:\n  tidemark predict config.json --batch 16 --seq 1024 --gpu h100-80gb\n"
      "  tidemark predict meta-llama/Llama-3.1-8B --batch 4 --gpu h100-80gb\n"
      "  tidemark predict llava-1.5-7b/ --images 1 --freeze vision_tower --gpu h100-80gb\n"
      "  tidemark predict --spec training.yaml --batch 32 --json report.json");
  add_spec_options(*command, options.spec);
  const auto text = [&](const char* name, std::string& value, const char* what) {
    command->add_option(name, value, what)->type_name("PATH")->group("Output");
  };
  text("--json", options.files.json, "Write the report as JSON (- is stdout)");
  text("--html", options.files.html, "Write the report as one HTML file");
  text("--csv", options.files.csv, "Write the report as CSV (- is stdout)");
  text("--events", options.events, "Write a line per allocation and free, for `tidemark diff`");
  command
      ->add_option("--margin", options.margin,
                   "Keep a quantile of measured residuals free, such as p90 (default: nothing)")
      ->type_name("PXX")
      ->group("Output");
  command->add_flag("--all-ranks", options.all_ranks, "Predict every rank, and report on each")->group("Many GPUs");
  command->add_flag("--quiet", options.quiet, "Print the verdict line alone")->group("Output");
}

namespace {

/// As the rows of validation/ tell them apart.
std::string modality_of(const Spec& spec) {
  if (spec.images == 0) return "text";
  return spec.seq > 0 ? "vision-language" : "vision";
}

}  // namespace

int predict(const PredictCommandOptions& options) {
  if (!options.margin.empty()) parse_quantile(options.margin);
  check_report_files(options.files);
  require_writable(options.events, "--events");
  if (options.all_ranks && !options.events.empty())
    throw Error(Errc::bad_value, "it tells of one rank, so it cannot be combined with --all-ranks", "--events",
                "choose one with --rank");
  Asked asked = read_asked(options.spec);
  const std::string modality = modality_of(asked.spec);
  Report report = options.all_ranks ? predicted_ranks(asked) : predicted(asked, options.events);
  if (report.fits == false && !options.all_ranks) {
    const Card card = card_of(asked.spec);
    report.remedies =
        answers::remedies(asked.spec, asked.model_config, card, asked.programs_of, cudnn_of(asked.spec, card));
  }
  if (!options.margin.empty()) keep_margin(report, options.margin, modality, find_resources().data);
  write_report_files(report, options.files);
  print_report(report, options.files, options.quiet);
  return report.fits == true ? 0 : 1;
}

}  // namespace tidemark::cli
