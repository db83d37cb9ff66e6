// Options by trainers' names: `--load_in_4bit`, `--max-seq-length 2048`.
#pragma once
#include <string>
#include <vector>

namespace tidemark::cli {

/// The words of a command line with our own options instead of trainers'; all others stay.
std::vector<std::string> in_own_words(const std::vector<std::string>& words);

}  // namespace tidemark::cli
