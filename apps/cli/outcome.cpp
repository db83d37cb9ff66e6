#include "outcome.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "estimate/all_ranks.h"
#include "estimate/device.h"
#include "estimate/margin.h"
#include "estimate/verdict.h"
#include "files.h"
#include "io/report_csv.h"
#include "io/report_html.h"
#include "io/report_json.h"
#include "io/report_text.h"
#include "io/residuals_json.h"

namespace tidemark::cli {
namespace {

bool lead_to_the_same_place(int one, int other) {
  struct stat a{}, b{};
  return ::fstat(one, &a) == 0 && ::fstat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool is_stdout_taken(const ReportFiles& files) { return files.json == "-" || files.csv == "-"; }

}  // namespace

std::optional<Report> collect_report(const std::filesystem::path& run_folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(run_folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("report-") && name.ends_with(".json")) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::optional<Report> worst;
  std::optional<Error> unreadable;
  for (const auto& path : paths) {
    try {
      Report report = io::read_report(read_file(path), path.filename().string());
      if (!worst || is_worse(report, *worst)) worst = std::move(report);
    } catch (const Error& error) {
      unreadable = error;
    }
  }
  if (!worst && unreadable) throw *unreadable;
  return worst;
}

void complete_report(Report& report, const Card& card, const std::vector<std::string>& command,
                     const ChildResult& child, const std::map<std::string, std::string>& versions) {
  account_for_device(report, card);
  report.script.command = command;
  report.script.exit_code = child.exit_code;
  report.versions.insert(versions.begin(), versions.end());
  if (report.host.seconds == 0) report.host.seconds = child.seconds;
  report.host.peak_rss_bytes = std::max<std::int64_t>(report.host.peak_rss_bytes, child.peak_rss_bytes);
  judge(report);
}

void keep_margin(Report& report, const std::string& quantile, const std::string& modality,
                 const std::filesystem::path& data) {
  if (quantile.empty()) return;
  add_margin(report, io::read_residuals(read_file(data / "residuals.json"), "residuals.json"), quantile, modality);
}

int exit_code_for(const ChildResult& failed) {
  return failed.signal && failed.ended_by_us.empty() ? failed.exit_code : kProgramFailed;
}

int exit_code_for(const Report& report, const ChildResult& child) {
  if (report.oom || (report.serving && report.serving->for_memory)) return 1;
  if (child.exit_code != 0) return exit_code_for(child);
  return report.fits == true ? 0 : 1;
}

void check_one_stdout(const ReportFiles& files) {
  if (files.json == "-" && files.csv == "-")
    throw Error(Errc::bad_value, "--json and --csv cannot both go to stdout", "--csv");
}

void check_report_files(const ReportFiles& files) {
  check_one_stdout(files);
  require_writable(files.json, "--json");
  require_writable(files.html, "--html");
  require_writable(files.csv, "--csv");
}

void write_report_files(const Report& report, const ReportFiles& files) {
  if (!files.json.empty()) write_output(files.json, io::write_report(report));
  if (!files.html.empty()) write_output(files.html, io::report_to_html(report));
  if (!files.csv.empty()) write_output(files.csv, io::report_to_csv(report));
}

void end_the_programs_line(const ReportFiles& files) {
  const bool on_stderr = is_stdout_taken(files);
  if (on_stderr || lead_to_the_same_place(STDOUT_FILENO, STDERR_FILENO)) fmt::print(on_stderr ? stderr : stdout, "\n");
}

void print_report(const Report& report, const ReportFiles& files, bool verdict_alone) {
  std::FILE* stream = is_stdout_taken(files) ? stderr : stdout;
  fmt::print(stream, "{}", verdict_alone ? report.verdict + "\n" : io::report_to_text(report));
  std::fflush(stream);
}

}  // namespace tidemark::cli
