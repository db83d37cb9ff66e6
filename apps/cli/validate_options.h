// What `tidemark validate` was asked.
#pragma once
#include <string>
#include <vector>

namespace tidemark::cli {

struct ValidateOptions {
  std::vector<std::string> corpora;  // folders and files; empty: all that come with Tidemark
  std::string engine = "recorded";
  std::string by = "corpus,metric";
  std::string only;                  // of the rows, those whose id holds it
  std::string spec;                  // of corpora that are reports and snapshots
  std::vector<std::string> pythons;  // NAME=PATH, or PATH
  long long jobs = 2;
  bool update = false, rivals = false, left_out = false;
  bool step_times = false;  // those, in place of memory
  std::string json, html;
};

}  // namespace tidemark::cli
