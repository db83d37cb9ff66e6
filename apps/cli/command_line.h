// What was asked for, parsed and checked, and nothing done yet.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "outcome.h"
#include "plan_options.h"
#include "ranks.h"
#include "serve/server.h"
#include "spec_options.h"
#include "validate_options.h"

namespace tidemark::cli {

struct RunOptions {
  std::string gpu, memory;
  WorldOptions world;
  std::string link = "auto", margin;
  bool windows = false;
  std::int64_t steps = 0;  // 0: until the peak has settled
  ReportFiles files;
  std::string snapshot;
  bool fake_weights = false;
  std::string moe_routing = "balanced";
  std::string generate_length = "full";
  std::string data;  // all, or how many batches of an epoch are drawn; empty: those that the program comes to
  std::string event_order = "clock";
  std::string allocator;
  std::string host_memory;    // empty: until the host's memory is nearly used up
  std::int64_t requests = 0;  // to a server, once it is ready
  bool keep_going = false;
  bool quiet = false;
  std::vector<std::string> command;
};

struct GpusOptions {
  bool json = false;
};

struct ReportOptions {
  std::string file;
  ReportFiles files;
};

struct PredictCommandOptions {
  SpecOptions spec;
  ReportFiles files;
  std::string events, margin;
  bool all_ranks = false, quiet = false;
};

struct ExplainOptions {
  SpecOptions spec;
  std::string by = "category,module,operation";
  std::int64_t rows = 12;
  bool each_layer = false;
};

struct DiffOptions {
  std::string a, b;
  bool names = false;  // of operations and modules are compared too
  bool json = false;
};

/// `models` and `ops` differ in their names alone.
struct ListOptions {
  bool json = false;
};
struct ModelsOptions : ListOptions {
  bool bundled = false;  // names on the hub instead of families
};
struct OpsOptions : ListOptions {};

struct PrepareOptions {
  std::string python = "python";
  std::string ship;  // a folder
};

struct AnswerOptions {
  std::string topic;
};

struct ServeOptions {
  serve::Address address;
  serve::Limits limits;
  std::string body, worker_memory;
};

struct McpOptions {};

/// As of `accelerate estimate-memory`, and what a training is of.
struct EstimateMemoryOptions {
  std::string model, library, gpu = "h100-80gb";
  std::vector<std::string> dtypes;  // empty: accelerate's
  bool trusts_remote_code = false;
  std::int64_t batch = 1, seq = 0, images = 0;
  bool offline = false, json = false;
};

struct VersionOptions {};

using CommandLine = std::variant<RunOptions, PredictCommandOptions, ExplainOptions, DiffOptions, GpusOptions,
                                 ModelsOptions, OpsOptions, PlanOptions, ReportOptions, PrepareOptions, ValidateOptions,
                                 AnswerOptions, ServeOptions, McpOptions, EstimateMemoryOptions, VersionOptions>;

/// Not an error: --help was asked for, and what() is its text.
class HelpRequest : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// `arguments` without the program's name.  Throws Error{usage} and HelpRequest.
CommandLine parse_command_line(std::vector<std::string> arguments);

}  // namespace tidemark::cli
