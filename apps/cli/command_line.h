// What was asked for, parsed and checked, and nothing done yet.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "outcome.h"

namespace tidemark::cli {

struct RunOptions {
  std::string gpu, memory;
  std::int64_t steps = 0;  // 0: until the peak has settled
  ReportFiles files;
  std::string snapshot;
  bool fake_weights = false;
  std::string moe_routing = "balanced";
  std::string allocator;
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

struct PrepareOptions {
  std::string python = "python";
};

struct VersionOptions {};

using CommandLine = std::variant<RunOptions, GpusOptions, ReportOptions, PrepareOptions, VersionOptions>;

/// Not an error: --help was asked for, and what() is its text.
class HelpRequest : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// `arguments` without the program's name.  Throws Error{usage} and HelpRequest.
CommandLine parse_command_line(std::vector<std::string> arguments);

}  // namespace tidemark::cli
