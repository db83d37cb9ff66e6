// tidemark run: a training program on a virtual card, and the report of its memory.
#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>
#include <string_view>

#include "base/bytes.h"
#include "base/check.h"
#include "base/error.h"
#include "card_choice.h"
#include "child.h"
#include "commands.h"
#include "elf/stand_ins.h"
#include "estimate/all_ranks.h"
#include "estimate/margin.h"
#include "estimate/parallel_spec.h"
#include "files.h"
#include "process.h"
#include "resources.h"
#include "run_folder.h"
#include "shipped_extensions.h"
#include "stand_in_cache.h"
#include "torch_extension.h"

namespace tidemark::cli {
namespace {

struct Prepared {
  TorchInstall torch;
  std::filesystem::path stand_ins, extension;
};

Prepared prepare_for(const std::vector<std::string>& command, const Resources& resources,
                     const Environment& environment) {
  Prepared result;
  result.torch = probe_torch(find_interpreter(command, environment), environment);
  if (!result.torch.others.empty()) fmt::print(stderr, "tidemark: {}\n", result.torch.others);
  result.stand_ins = stand_in_folder(result.torch, resources.gpu_library, environment);
  result.extension = extension_for(result.torch, resources, result.stand_ins, environment);
  fmt::print(stderr, "{}", missing_text(missing_parts(result.extension), result.torch.short_version()));
  return result;
}

// LD_PRELOAD takes spaces and colons for separators: a folder with one in its name goes by a link in the run's folder.
std::filesystem::path loadable_folder(const std::filesystem::path& folder, const std::filesystem::path& run_folder) {
  if (folder.string().find_first_of(": ;") == std::string::npos) return folder;
  std::filesystem::create_directory_symlink(folder, run_folder / "lib");
  return run_folder / "lib";
}

constexpr int kLoaderFailed = 127;  // ld.so, where a function is missing at the first call

// Run-time compilation is never real here, so its library is ours by name too: torch looks functions up in it by its
// own handle. What is compiled or tuned for the virtual card stays out of the caches that a real one uses.
void set_compilers(Environment& environment, const std::filesystem::path& libraries,
                   const std::filesystem::path& cache) {
  for (const auto& entry : std::filesystem::directory_iterator(libraries))
    if (entry.path().filename().string().starts_with("libnvrtc.so"))
      environment.append("LD_PRELOAD", entry.path().string());
  environment.set("USE_PYTORCH_KERNEL_CACHE", "0");
  environment.set("TRITON_LIBCUDA_PATH", libraries.string());
  if (!environment.get("TORCHINDUCTOR_CACHE_DIR"))
    environment.set("TORCHINDUCTOR_CACHE_DIR", (cache / "inductor").string());
}

std::string steps_setting(const RunOptions& options) {
  if (options.keep_going) return "all";
  return options.steps > 0 ? fmt::format("{}", options.steps) : "auto";
}

Environment child_environment(const RunOptions& options, const Prepared& prepared, const Resources& resources,
                              const std::filesystem::path& run_folder, Environment environment) {
  const std::filesystem::path libraries = loadable_folder(prepared.stand_ins, run_folder);
  environment.set("TIDEMARK_RUN_DIR", run_folder.string());
  set_world(environment, options.world);
  environment.set("TIDEMARK_CARD", (run_folder / "card.properties").string());
  environment.set("TIDEMARK_STEPS", steps_setting(options));
  environment.set("TIDEMARK_MOE_ROUTING", options.moe_routing);
  environment.set("TIDEMARK_GENERATE_LENGTH", options.generate_length);
  if (!options.data.empty()) environment.set("TIDEMARK_DATA", options.data);
  if (options.requests > 0) environment.set("TIDEMARK_REQUESTS", fmt::format("{}", options.requests));
  if (options.keep_going) environment.set("TIDEMARK_KEEP_SERVING", "1");
  environment.set("TIDEMARK_CLOCK", options.event_order);
  if (options.fake_weights) environment.set("TIDEMARK_FAKE_WEIGHTS", "1");
  if (!options.snapshot.empty())
    environment.set("TIDEMARK_SNAPSHOT", std::filesystem::absolute(options.snapshot).string());
  if (!prepared.extension.empty()) environment.set("TIDEMARK_TORCH_EXTENSION", prepared.extension.string());
  environment.append("LD_PRELOAD", (libraries / elf::kGpuLibrary).string());
  environment.append("LD_PRELOAD", (libraries / elf::kStubLibrary).string());
  environment.prepend("LD_LIBRARY_PATH", libraries.string());
  set_compilers(environment, libraries, cache_root(environment));
  environment.prepend("PYTHONPATH", resources.python.string());
  environment.prepend("PYTHONPATH", (resources.python / "tidemark" / "startup").string());
  if (!options.allocator.empty()) {
    environment.set("PYTORCH_CUDA_ALLOC_CONF", options.allocator);  // the name up to torch 2.8
    environment.set("PYTORCH_ALLOC_CONF", options.allocator);
  }
  return environment;
}

// Versions that the stand-ins say of themselves.  CUDA "13.0" is major and minor.
std::string library_properties(const TorchInstall& torch) {
  const std::size_t dot = torch.cuda.find('.');
  const std::string minor = dot == std::string::npos ? "0" : torch.cuda.substr(dot + 1);
  std::string lines = fmt::format("cuda_major={}\ncuda_minor={}\n", torch.cuda.substr(0, dot), minor);
  if (torch.cudnn_version) lines += fmt::format("cudnn_version={}\n", torch.cudnn_version);
  if (torch.nccl_version) lines += fmt::format("nccl_version={}\n", torch.nccl_version);
  return lines;
}

void write_card_files(const Card& card, std::int64_t devices, const TorchInstall& torch,
                      const std::filesystem::path& run_folder) {
  write_file(run_folder / "card.json", io::write_card(card));
  write_file(run_folder / "card.properties",
             io::write_card_properties(card) + fmt::format("devices={}\n", devices) + library_properties(torch));
}

// The first file of the run folder whose name begins so (python/tidemark/inside/session.py writes them).
std::optional<std::filesystem::path> find_note(const std::filesystem::path& run_folder, std::string_view name) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(run_folder))
    if (entry.path().filename().string().starts_with(name)) return entry.path();
  return std::nullopt;
}

// What the program itself could not say.
void say_how_it_ended(const ChildResult& child, const std::filesystem::path& run_folder) {
  const auto say = [](const std::string& what) { fmt::print(stderr, "tidemark: {}\n", what); };
  if (!child.ended_by_us.empty()) return say(child.ended_by_us);
  if (child.signal)
    say(fmt::format("the program was ended by signal {} ({})", child.signal, ::strsignal(child.signal)));
  else if (const auto killed = child.exit_code ? find_note(run_folder, "killed-") : std::nullopt)
    say(read_file(*killed));
  if (child.host_ran_out)
    say(fmt::format(
        "the kernel has killed a process for want of the host's memory; the largest that has ended had {} of it",
        format_bytes(child.peak_rss_bytes)));
}

int without_report(const ChildResult& child, const std::filesystem::path& run_folder) {
  if (!child.ended_by_us.empty()) return exit_code_for(child);
  if (const auto failure = find_note(run_folder, "failure-"))
    throw InternalError("the report could not be written:\n" + read_file(*failure));
  if (child.exit_code == kLoaderFailed)
    fmt::print(stderr,
               "tidemark: if this was a symbol lookup error (above), a library of the program calls a function of "
               "NVIDIA's that the "
               "virtual GPU does not stand in for; the last word of that line is its name\n");
  if (child.exit_code != 0 && find_note(run_folder, "killed-")) return exit_code_for(child);  // which has been said
  const auto note = find_note(run_folder, "card-used-");
  const bool used_the_card = note.has_value();
  const std::string said = note ? read_file(*note) : "";
  if (const std::size_t end = said.find_last_not_of('\n'); end != std::string::npos)
    throw Error(Errc::io, said.substr(0, end + 1), {},
                "it is made in a folder of TMPDIR, which is kept only while the run goes on");
  constexpr const char* kKilled = "the process that used the card was ended before it could report";
  if (child.exit_code != 0) {
    if (child.signal == 0)
      fmt::print(stderr, "tidemark: the program ended with exit code {}{}\n", child.exit_code,
                 used_the_card ? fmt::format("; {}", kKilled) : " before it used the card");
    return exit_code_for(child);
  }
  if (used_the_card) throw Error(Errc::unsupported, kKilled, {}, "was it killed?");
  throw Error(Errc::unsupported, "the program ended without using CUDA, so there is no memory to report", {},
              "does it train on the GPU (`.to(\"cuda\")`), and does torch.cuda.is_available() decide that?");
}

void add_world(CLI::App& command, WorldOptions& world) {
  command.add_option("--gpus", world.gpus, "Ranks of the training, one per card; one of them runs, alone")
      ->type_name("N");
  command.add_option("--gpus-per-node", world.gpus_per_node, "Cards of one node (default: all of them)")
      ->type_name("N");
  command.add_option("--rank", world.rank, "The rank that runs (default: 0)")->type_name("R");
  command.add_flag("--all-ranks", world.all_ranks, "Run every rank, one after another, and report on each");
}

std::map<std::string, std::string> versions_of(const TorchInstall& torch) {
  return {
      {"tidemark", version_text()}, {"torch", torch.version}, {"cuda", torch.cuda}, {"python", torch.python_version}};
}

// From what a run left behind to what the user sees.
struct Finish {
  const RunOptions& options;
  const Card& card;
  std::filesystem::path folder;
  std::map<std::string, std::string> versions;
  std::filesystem::path data;

  Report complete(RankRun&& done) const {
    complete_report(*done.report, card, options.command, done.child, versions);
    return std::move(*done.report);
  }
  int operator()(RankRun&& done) const {
    const ChildResult child = done.child;
    if (!done.report) return without_report(child, folder);
    const Report report = complete(std::move(done));
    const int exit_code = show(report, child);
    if (options.requests > 0 && !report.serving)
      throw Error(Errc::bad_value, "the program started no server, so no request was sent", "--requests",
                  "leave it out, or run a server such as vllm serve");
    return exit_code;
  }
  int show(Report report, const ChildResult& child) const {
    keep_margin(report, options.margin, "", data);
    write_report_files(report, options.files);
    end_the_programs_line(options.files);
    print_report(report, options.files, options.quiet);
    return exit_code_for(report, child);
  }
};

// What the first rank prints is seen; the others would print the same.  A rank that was stopped before a step that a
// later one reached runs again, until all were stopped after the same.
int run_all(Ranks& ranks, const Finish& finish) {
  AllRanks all;
  ChildResult worst;
  std::set<std::int64_t> left;
  for (std::int64_t rank = 0; rank < finish.options.world.gpus; ++rank) left.insert(rank);
  bool seen = false;
  while (!left.empty()) {
    const std::int64_t rank = *left.begin();
    RankRun done = ranks.run(rank, seen);
    if (!done.report) return without_report(done.child, finish.folder);
    if (!seen || done.child.exit_code != 0) worst = done.child;
    seen = true;
    all.add(rank, finish.complete(std::move(done)));
    left.erase(rank);
    if (!left.empty()) continue;
    for (std::int64_t other = 0; other < finish.options.world.gpus; ++other)
      if (ranks.lags(other)) left.insert(other);
  }
  return finish.show(all.finish(), worst);
}

}  // namespace

void add_run(CLI::App& app, RunOptions& options) {
  CLI::App* command =
      app.add_subcommand("run", "Run a PyTorch training program on a virtual GPU and report its memory.");
  command->prefix_command();
  command->footer(
      "Examples:\n  tidemark run --gpu h100-80gb -- python train.py --batch 16\n"
      "  tidemark run --gpu rtx-4090 --steps 5 --json report.json -- torchrun train.py\n"
      "  tidemark run --gpu h100-80gb --gpus 8 -- torchrun --nproc-per-node 8 train.py\n"
      "  tidemark run --gpu h100-80gb --requests 4 -- vllm serve Qwen/Qwen2.5-7B-Instruct");
  const auto text = [&](const char* name, std::string& value, const char* type, const char* what) {
    command->add_option(name, value, what)->type_name(type);
  };
  text("--gpu", options.gpu, "NAME|FILE", "The card: a name (see `tidemark gpus`) or a file that describes one");
  text("--memory", options.memory, "SIZE", "Another memory size for the card, such as 400GB or 80GiB");
  command->add_flag("--windows", options.windows, "A Windows driver: beyond the card it goes on in host memory");
  add_world(*command, options.world);
  text("--link", options.link, "KIND",
       "What joins the cards of a node, for NCCL's buffers: nvlink or pcie (default: the card's)");
  command->add_option("--steps", options.steps, "Stop after N optimizer steps (default: when the peak has settled)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}).description(""))
      ->type_name("N");
  command->add_flag("--keep-going", options.keep_going, "Let the program run to its own end");
  text("--json", options.files.json, "PATH", "Write the report as JSON (- is stdout)");
  text("--html", options.files.html, "PATH", "Write the report as one HTML file");
  text("--csv", options.files.csv, "PATH", "Write the report as CSV (- is stdout)");
  text("--snapshot", options.snapshot, "PATH", "Write a snapshot for PyTorch's memory viewer");
  command->add_flag("--fake-weights", options.fake_weights, "Build pretrained models from their configuration alone");
  text("--moe-routing", options.moe_routing, "HOW", "How tokens spread over experts: balanced or skewed:X");
  text("--generate-length", options.generate_length, "full|N",
       "Tokens of a text that transformers generates: all that the program allows, or N");
  text("--data", options.data, "all|N",
       "Draw all batches of an epoch (or its first N), train on some, and answer for all of them");
  text("--event-order", options.event_order, "HOW",
       "When work on other streams has completed: instant, clock (by estimated times) or late");
  text("--allocator", options.allocator, "CONF", "Settings of PyTorch's allocator (PYTORCH_CUDA_ALLOC_CONF)");
  text("--host-memory", options.host_memory, "SIZE",
       "End the program when it holds more of the host's memory (default: when that is nearly used up)");
  command->add_option("--requests", options.requests, "Requests to send to a server before it ends (default: none)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{100'000}).description(""))
      ->type_name("N");
  text("--margin", options.margin, "PXX", "Keep a quantile of measured residuals free, such as p90 (default: nothing)");
  command->add_flag("--quiet", options.quiet, "Print the verdict line alone");
}

// A number from 1, of nine digits at most.
bool is_count(const std::string& text) {
  return !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string::npos &&
         text[0] != '0';
}

void check_run_options(const RunOptions& options) {
  const auto bad = [](const char* option, std::string why, std::string hint = {}) {
    throw Error(Errc::bad_value, std::move(why), option, std::move(hint));
  };
  if (options.keep_going && options.steps > 0) bad("--keep-going", "it cannot be combined with --steps");
  if (!options.memory.empty()) parse_bytes(options.memory);
  if (!options.host_memory.empty()) parse_bytes(options.host_memory);
  check_world(options.world);
  if (!options.margin.empty()) parse_quantile(options.margin);
  if (std::find(kLinkNames.begin(), kLinkNames.end(), options.link) == kLinkNames.end())
    bad("--link", fmt::format("\"{}\" is not a kind of link", options.link), "write nvlink or pcie");
  if (options.world.all_ranks && !options.snapshot.empty())
    bad("--snapshot", "it shows one rank, so it cannot be combined with --all-ranks", "choose one with --rank");
  check_one_stdout(options.files);
  constexpr std::array<std::string_view, 3> kEventOrders{"instant", "clock", "late"};
  if (std::find(kEventOrders.begin(), kEventOrders.end(), options.event_order) == kEventOrders.end())
    bad("--event-order", fmt::format("\"{}\" is not an order of events", options.event_order),
        "write instant (at once), clock (by estimated times) or late (when the program waits)");
  if (options.generate_length != "full" && !is_count(options.generate_length))
    bad("--generate-length", fmt::format("\"{}\" is not a number of tokens", options.generate_length),
        "write full or a number from 1");
  if (!options.data.empty() && options.data != "all" && !is_count(options.data))
    bad("--data", fmt::format("\"{}\" is not a number of batches", options.data), "write all or a number from 1");
  if (!options.data.empty() && (options.keep_going || options.steps > 0))
    bad("--data", fmt::format("it cannot be combined with {}", options.keep_going ? "--keep-going" : "--steps"),
        "it chooses the steps itself");
  const std::string& routing = options.moe_routing;
  if (routing == "balanced") return;
  char* end = nullptr;
  const bool skewed = routing.starts_with("skewed:") && routing.size() > 7;
  const double skew = skewed ? std::strtod(routing.c_str() + 7, &end) : -1;
  if (!skewed || *end != '\0' || !std::isfinite(skew) || skew < 0 || skew > 1)
    bad("--moe-routing", fmt::format("\"{}\" is not a routing", routing),
        "write balanced or skewed:X, with X the share of tokens (0 to 1) that choose the first experts");
}

int run(const RunOptions& options) {
  const Environment environment = Environment::of_this_process();
  const Resources resources = find_resources();
  const Card card = choose_card(options.gpu, options.memory, resources.data, options.link, options.windows);
  if (options.world.gpus > 1) check_link(card);
  check_report_files(options.files);
  require_writable(options.snapshot, "--snapshot");
  const Prepared prepared = prepare_for(options.command, resources, environment);

  const RunFolder run_folder(environment);
  write_card_files(card, options.world.per_node(), prepared.torch, run_folder.path());
  const bool live = !options.quiet && ::isatty(STDERR_FILENO) == 1;
  const std::string program = find_command(options.command[0], environment)->string();
  std::optional<std::int64_t> host_memory_bytes;
  if (!options.host_memory.empty()) host_memory_bytes = parse_bytes(options.host_memory);
  const auto start = [&](const Environment& with, const std::filesystem::path& folder, bool unseen) {
    const ChildResult child =
        run_child(program, options.command, with, folder, live, unseen ? folder / "output" : "", host_memory_bytes);
    if (unseen && child.exit_code != 0) fmt::print(stderr, "{}", read_file(folder / "output"));
    say_how_it_ended(child, folder);
    return child;
  };
  const Finish finish{options, card, run_folder.path(), versions_of(prepared.torch), resources.data};
  const Environment with = child_environment(options, prepared, resources, run_folder.path(), environment);
  if (options.world.gpus == 1) {
    const ChildResult child = start(with, run_folder.path(), false);
    return finish(RankRun{child, collect_report(run_folder.path())});
  }
  Ranks ranks(options.world, with, run_folder.path(), start);
  return options.world.all_ranks ? run_all(ranks, finish) : finish(ranks.run(options.world.rank, false));
}

}  // namespace tidemark::cli
