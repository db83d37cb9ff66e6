// The size of chunks as Colossal-AI finds it: tools/trace/record_gemini_chunks.py recorded what each case should be.
#include <gtest/gtest.h>

#include <sstream>

#include "../recordings.h"
#include "parallel/gemini_search.h"

namespace tidemark {
namespace {

std::vector<std::int64_t> numbers_of(const std::string& text) {
  std::vector<std::int64_t> numbers;
  std::istringstream stream(text);
  for (std::string number; std::getline(stream, number, ',');) numbers.push_back(std::stoll(number));
  return numbers;
}

TEST(GeminiChunks, AreAsLargeAsColossalAiMakesThem) {
  std::istringstream lines(unpack(TIDEMARK_RECORDINGS "/chunks.txt.gz"));
  int cases = 0, cut = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::int64_t ranks = 0;
    ChunkSearch search;
    ChunkSize expected;
    std::string sizes;
    words >> ranks >> search.search_range_m >> search.min_chunk_size_m >> search.search_interval;
    words >> expected.elements >> expected.keep_gathered >> sizes;
    const ChunkSize found = search_chunk_size(numbers_of(sizes), ranks, search);
    EXPECT_EQ(found.elements, expected.elements) << line;
    EXPECT_EQ(found.keep_gathered, expected.keep_gathered) << line;
    ++cases;
    cut += !expected.keep_gathered;
  }
  EXPECT_GT(cases, 400);
  EXPECT_GT(cut, 200);
}

}  // namespace
}  // namespace tidemark
