#include "plan_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <system_error>

#include "base/bytes.h"
#include "base/error.h"
#include "children.h"
#include "estimate/verdict.h"
#include "files.h"
#include "host_memory.h"
#include "io/report_json.h"
#include "outcome.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLinesOfAFailure = 40;

std::string last_lines(const std::string& text, std::size_t lines) {
  std::size_t begin = text.size();
  for (std::size_t i = 0; i <= lines && begin != text.npos && begin > 0; ++i) begin = text.rfind('\n', begin - 1);
  return begin == text.npos || begin == 0 ? text : text.substr(begin + 1);
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

vary::Outcome outcome_of(const Report& report) {
  if (report.oom) {
    const std::int64_t in_use = report.oom->in_use_bytes.value_or(report.peak.device_bytes);
    return {false, checked_add(in_use, report.oom->requested_bytes), false};
  }
  const std::int64_t reserved = report.interval ? report.interval->reserved_high_bytes : report.peak.reserved_bytes;
  const std::int64_t beside = device_overhead_bytes(report).high + (report.margin ? report.margin->bytes : 0);
  return {report.fits == true, checked_add(reserved, beside), true};
}

std::vector<std::string> Trials::command_of(const Going& going) const {
  std::error_code error;
  std::vector<std::string> command{fs::read_symlink("/proc/self/exe", error).string(), "run", "--quiet"};
  command.insert(command.end(), setup_.run.begin(), setup_.run.end());
  command.insert(command.end(), {"--json", going.report.string(), "--"});
  const auto program = vary::filled_in(setup_.command, setup_.varied, *going.point);
  command.insert(command.end(), program.begin(), program.end());
  return command;
}

/// How many may go on at a time: no more than the host's memory has room for, by what the largest run took.
std::size_t Trials::together() const {
  const auto memory = HostMemoryWatch().now();
  if (!memory || largest_rss_bytes_ <= 0) return setup_.at_once;
  const std::int64_t room = std::max<std::int64_t>(1, memory->available_bytes / largest_rss_bytes_);
  return std::min(setup_.at_once, static_cast<std::size_t>(room));
}

void Trials::show(const std::vector<Going>& group, double seconds) {
  if (!setup_.is_live) return;
  std::string names;
  for (const Going& going : group)
    if (!going.ended) names += (names.empty() ? "" : ", ") + vary::text_of(setup_.varied, *going.point);
  line_.show(names.empty() ? "" : fmt::format("{} done, now {}  {:.0f} s", done_.size(), names, seconds));
}

/// What the run said, as far as it tells why.
void Trials::fail(const Going& going, int exit_code) {
  line_.clear();
  std::error_code error;
  if (fs::exists(going.output, error)) fmt::print(stderr, "{}", last_lines(read_file(going.output), kLinesOfAFailure));
  fmt::print(stderr, "tidemark: {}: the run ended with exit code {} (above), and with it the search\n",
             vary::text_of(setup_.varied, *going.point), exit_code);
  end_ = SearchEnded{kProgramFailed};
}

/// False when the run has no verdict.
bool Trials::take(Going& going, int exit_code, double seconds) {
  std::error_code error;
  if ((exit_code != 0 && exit_code != 1) || !fs::exists(going.report, error)) return fail(going, exit_code), false;
  const Report report = io::read_report(read_file(going.report), going.report.filename().string());
  const vary::Outcome outcome = outcome_of(report);
  const std::int64_t peak = outcome.is_whole ? report.peak.device_bytes : outcome.needed_bytes;
  going.ended = Trial{*going.point, outcome, peak, report.verdict, seconds};
  done_.push_back(*going.ended);
  largest_rss_bytes_ = std::max(largest_rss_bytes_, report.host.peak_rss_bytes);
  line_.clear();
  if (!setup_.is_quiet)
    fmt::print(stderr, "{}: {} ({:.1f} s)\n", vary::text_of(setup_.varied, *going.point), report.verdict, seconds);
  return true;
}

void Trials::run_together(std::vector<Going>& group) {
  std::vector<ChildCommand> commands;
  for (const Going& going : group) commands.push_back({command_of(going), going.output});
  const auto begin = std::chrono::steady_clock::now();
  std::exception_ptr failure;
  const auto on_end = [&](std::size_t i, int exit_code) {
    try {
      return take(group[i], exit_code, seconds_since(begin));
    } catch (...) {  // the others have to end first
      failure = std::current_exception();
      return false;
    }
  };
  const int signal = run_children(commands, environment_, {[&] { show(group, seconds_since(begin)); }, on_end});
  line_.clear();
  if (signal) throw SearchEnded{128 + signal};
  if (failure) std::rethrow_exception(failure);
  if (end_) throw *end_;
  std::error_code ignored;  // the folder goes with the search
  for (const Going& going : group) fs::remove(going.report, ignored), fs::remove(going.output, ignored);
}

std::vector<vary::Outcome> Trials::run(const std::vector<vary::Point>& points) {
  std::vector<vary::Outcome> outcomes;
  for (std::size_t next = 0; next < points.size();) {
    std::vector<Going> group;
    for (const std::size_t end = std::min(points.size(), next + together()); next < end; ++next, ++started_)
      group.push_back({&points[next], folder_ / fmt::format("report-{}.json", started_),
                       folder_ / fmt::format("output-{}", started_), std::nullopt});
    run_together(group);
    for (const Going& going : group) outcomes.push_back(going.ended->outcome);
  }
  return outcomes;
}

}  // namespace tidemark::cli
