#include "ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/error.h"
#include "files.h"
#include "outcome.h"

namespace tidemark::cli {
namespace {

constexpr std::int64_t kMostGpus = 65536;

[[noreturn]] void bad(const char* option, std::string why, std::string hint = {}) {
  throw Error(Errc::bad_value, std::move(why), option, std::move(hint));
}

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// python/tidemark/inside/world.py writes exit code, message and hint.
void throw_refusal(const std::filesystem::path& folder) {
  const std::vector<std::string> lines = lines_of(folder / "refusal");
  if (lines.size() < 2) return;
  throw Error(lines[0] == "2" ? Errc::bad_value : Errc::unsupported, lines[1], {}, lines.size() > 2 ? lines[2] : "");
}

struct Awaited {
  std::int64_t rank;
  std::string channel;
};

// virtual_gpu/nccl_messages.cpp writes the sender and the channel.
std::optional<Awaited> awaited_by(const std::filesystem::path& folder) {
  const std::vector<std::string> lines = lines_of(folder / "awaits");
  if (lines.size() < 2) return std::nullopt;
  return Awaited{std::stoll(lines[0]), lines[1]};
}

[[noreturn]] void never_comes(std::int64_t rank, const Awaited& awaited, std::optional<std::int64_t> stopped_after) {
  const std::string waits =
      fmt::format("rank {} waits for whole numbers from rank {} (\"{}\")", rank, awaited.rank, awaited.channel);
  if (stopped_after)
    throw Error(Errc::unsupported,
                fmt::format("{}, which rank {} had not sent when it was stopped after {} steps", waits, awaited.rank,
                            *stopped_after),
                {}, "with --keep-going, or a larger --steps, every rank goes on for longer");
  throw Error(Errc::unsupported, fmt::format("{}, which rank {} alone never sends", waits, awaited.rank), {},
              "what a rank does after it received other ranks' results cannot be known from one rank alone");
}

}  // namespace

void check_world(const WorldOptions& world) {
  if (world.gpus < 1 || world.gpus > kMostGpus)
    bad("--gpus", fmt::format("{} is not from 1 to {}", world.gpus, kMostGpus));
  if (world.gpus_per_node < 0 || world.gpus % world.per_node() != 0)
    bad("--gpus-per-node", fmt::format("{} GPUs are not nodes of {}", world.gpus, world.gpus_per_node),
        "every node has as many, and together they are --gpus");
  if (world.rank < 0 || world.rank >= world.gpus)
    bad("--rank",
        fmt::format("there is no rank {} among {} ({})", world.rank, world.gpus,
                    world.gpus == 1 ? "rank 0 alone" : fmt::format("0 to {}", world.gpus - 1)),
        world.gpus == 1 ? "say with --gpus how many ranks there are" : "");
  if (world.all_ranks && world.rank != 0) bad("--all-ranks", "it cannot be combined with --rank");
}

void set_world(Environment& environment, const WorldOptions& world) {
  std::string visible = "0";
  for (std::int64_t device = 1; device < world.per_node(); ++device) visible += fmt::format(",{}", device);
  environment.set("CUDA_VISIBLE_DEVICES", visible);
  if (world.gpus == 1) return;
  environment.set("TIDEMARK_RANKS", fmt::format("{}", world.gpus));
  environment.set("TIDEMARK_RANKS_PER_NODE", fmt::format("{}", world.per_node()));
  for (const char* name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"}) environment.unset(name);
}

std::filesystem::path Ranks::folder_of(std::int64_t rank) const { return folder_ / fmt::format("rank-{}", rank); }

// Files that a rank writes for the user: each its own with --all-ranks, and none by one that ran for the sake of
// another.
void Ranks::keep_files_apart(Environment& environment, std::int64_t rank, bool unseen) const {
  const auto events = environment.get("TIDEMARK_EVENTS");
  if (world_.all_ranks) {
    if (events) environment.set("TIDEMARK_EVENTS", fmt::format("{}.rank-{}", *events, rank));
  } else if (unseen) {
    environment.unset("TIDEMARK_EVENTS");
    environment.unset("TIDEMARK_SNAPSHOT");
  }
}

std::size_t Ranks::messages_kept() const {
  const std::filesystem::directory_iterator files(folder_ / "messages");
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

RankRun Ranks::start(std::int64_t rank, bool unseen) {
  std::filesystem::remove_all(folder_of(rank));
  std::filesystem::create_directories(folder_of(rank));
  std::filesystem::create_directories(folder_ / "messages");
  Environment environment = environment_;
  environment.set("TIDEMARK_RUN_DIR", folder_of(rank).string());
  environment.set("TIDEMARK_RANK", fmt::format("{}", rank));
  environment.set("TIDEMARK_MESSAGES", (folder_ / "messages").string());
  environment.set("TIDEMARK_STEPS_AT_LEAST", fmt::format("{}", at_least_));
  keep_files_apart(environment, rank, unseen);
  const ChildResult child = start_(environment, folder_of(rank), unseen);
  throw_refusal(folder_of(rank));
  RankRun done{child, collect_report(folder_of(rank))};
  stopped_.erase(rank);
  if (done.report && done.report->script.stopped_after_steps) {
    stopped_[rank] = *done.report->script.stopped_after_steps;
    at_least_ = std::max(at_least_, stopped_[rank]);
  }
  return done;
}

/// After a number of steps that was ours to choose: it may send what is awaited one step later.
bool Ranks::was_stopped_by_us(std::int64_t rank) const {
  return environment_.get("TIDEMARK_STEPS") == "auto" && stopped_.contains(rank);
}

bool Ranks::lags(std::int64_t rank) const {
  const auto found = stopped_.find(rank);
  return found != stopped_.end() && found->second < at_least_;
}

/// Nothing if it cannot go on before a rank does that itself awaits this one; what it sent until then is kept.
std::optional<RankRun> Ranks::attempt(std::int64_t rank, bool unseen) {
  for (;;) {
    RankRun done = start(rank, unseen);
    const auto awaited = awaited_by(folder_of(rank));
    if (!awaited) return done;
    if (awaited_.contains(awaited->rank)) return std::nullopt;
    const std::size_t kept_before = messages_kept();
    if (was_stopped_by_us(awaited->rank)) at_least_ = std::max(at_least_, stopped_.at(awaited->rank) + 1);
    awaited_.insert(rank);
    const auto sender = attempt(awaited->rank, true);
    awaited_.erase(rank);
    if (sender && sender->child.exit_code != 0 && sender->report && !sender->report->oom)
      throw Error(Errc::unsupported, fmt::format("rank {}, which rank {} waits for, ended with exit code {}",
                                                 awaited->rank, rank, sender->child.exit_code));
    if (messages_kept() > kept_before) continue;
    if (!sender && !awaited_.empty())
      return std::nullopt;  // it awaits one further up, which goes on with what was sent so far
    const auto stopped = stopped_.find(awaited->rank);
    never_comes(rank, *awaited, stopped == stopped_.end() ? std::nullopt : std::optional(stopped->second));
  }
}

RankRun Ranks::run(std::int64_t rank, bool unseen) {
  auto done = attempt(rank, unseen);
  if (!done) throw Error(Errc::unsupported, fmt::format("rank {} waits for itself", rank));
  return std::move(*done);
}

}  // namespace tidemark::cli
