// How long one prediction takes in the process, how much memory it needs, and whether 10,000 over two threads agree.
//   bench_predict SPEC.json DATA [PREDICTIONS]
// DATA is the folder of gpus.json.
// Without PREDICTIONS: the median of a few hundred on one thread, and how long reading the family's program takes,
// which a process does once.  With it: that many over two threads.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>

#include "answers/family_programs.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/process_memory.h"
#include "card_choice.h"
#include "estimate/predict.h"
#include "io/spec_json.h"
#include "shipped_program.h"

using namespace tidemark;

namespace {

constexpr int kRuns = 300;

std::string read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(Errc::not_found, "no such file", path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// VmHWM: getrusage would count what the process was before exec.
std::int64_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (std::int64_t kibibytes = 0; word == "VmHWM:" && status >> kibibytes) return kibibytes * 1024;
  return 0;
}

/// As the command takes them.
answers::SharedPrograms programs_of(const Spec& spec) {
  return answers::programs_of_families(cli::shipped_families(spec, spec.model), spec.model)(spec);
}

struct Question {
  Spec spec;
  Card card;
  answers::SharedPrograms programs;
  Report ask() const {
    return predict(spec, spec.model, card, {.on_event = {}, .interval = false, .programs = *programs});
  }
};

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// All numbers of an answer that a race could spoil.
std::vector<std::int64_t> numbers_of(const Report& report) {
  std::vector<std::int64_t> numbers{report.peak.allocated_bytes, report.peak.reserved_bytes,
                                    report.peak.requested_bytes};
  for (const StepReport& step : report.steps)
    for (const PhaseReport& phase : step.phases)
      numbers.insert(numbers.end(), {phase.peak_allocated_bytes, phase.peak_reserved_bytes, phase.end_allocated_bytes});
  for (const NamedBytes& row : report.at_peak.by_operation) numbers.push_back(row.bytes);
  for (const TimelinePoint& point : report.timeline) numbers.push_back(point.allocated_bytes);
  return numbers;
}

void one_thread(const Question& question) {
  const std::int64_t before = peak_bytes();
  std::vector<double> milliseconds;
  for (int run = 0; run < kRuns; ++run) {
    const auto start = std::chrono::steady_clock::now();
    const Report report = question.ask();
    milliseconds.push_back(milliseconds_since(start));
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  fmt::print("median {:.3f} ms, fastest {:.3f} ms, {} more of memory\n", milliseconds[kRuns / 2], milliseconds[0],
             format_bytes(peak_bytes() - before));
}

/// Exit code 1 if an answer differs or memory grows after the first tenth.
int two_threads(const Question& question, int predictions) {
  const std::vector<std::int64_t> expected = numbers_of(question.ask());
  std::atomic<int> left = predictions, different = 0;
  const auto work = [&] {
    while (left.fetch_sub(1) > 0)
      if (numbers_of(question.ask()) != expected) ++different;
  };
  const auto run_until = [&](int rest) {
    left = predictions - rest;
    std::thread other(work);
    work();
    other.join();
  };
  run_until(predictions - predictions / 10);
  const std::int64_t early = peak_bytes();
  run_until(predictions / 10);
  const std::int64_t grown = peak_bytes() - early;
  fmt::print("{} predictions over two threads: {} differ, memory grew by {}\n", predictions, different.load(),
             format_bytes(grown));
  return different == 0 && grown < (4 << 20) ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) try {
  keep_freed_memory();
  if (count < 3) {
    fmt::print("usage: bench_predict SPEC.json DATA [PREDICTIONS]\n");
    return 2;
  }
  const Spec spec = io::read_spec_json(read(arguments[1]), arguments[1]);
  const auto start = std::chrono::steady_clock::now();
  const answers::SharedPrograms programs = programs_of(spec);
  const double reading = milliseconds_since(start);
  const Question question{spec, cli::choose_card(spec.gpu.empty() ? "h200" : spec.gpu, spec.memory, arguments[2]),
                          programs};
  if (count > 3) return two_threads(question, std::stoi(arguments[3]));
  one_thread(question);
  if (!programs->empty()) fmt::print("its program is read in {:.3f} ms\n", reading);
  return 0;
} catch (const Error& error) {
  fmt::print(stderr, "{}: {}\n", error.where(), error.message());
  return 2;
}
