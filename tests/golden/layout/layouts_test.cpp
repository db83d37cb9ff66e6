// Sizes and strides as PyTorch gives them: tools/trace/record_layouts.py recorded what each case should be.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <sstream>

#include "../recordings.h"
#include "tensor/layout.h"

namespace tidemark {
namespace {

Dims dims_of(const std::string& text) {
  Dims dims;
  std::istringstream numbers(text);
  for (std::string number; text != "-" && std::getline(numbers, number, ',');) dims.push_back(std::stoll(number));
  return dims;
}

Layout layout_of(const std::string& text) {
  const std::size_t at = text.find('@');
  return {dims_of(text.substr(0, at)), dims_of(text.substr(at + 1))};
}

std::string text_of(const Dims& dims) {
  return dims.count() == 0 ? "-" : fmt::format("{}", fmt::join(dims.begin(), dims.end(), ","));
}

std::string text_of(const Layout& layout) { return text_of(layout.sizes) + "@" + text_of(layout.strides); }

std::string answer(const std::string& kind, const std::string& first, const std::string& second) {
  const Layout a = layout_of(first);
  if (kind == "like") return text_of(like(a));
  if (kind == "dense") return a.is_dense() ? "1" : "0";
  if (kind == "view") {
    const std::optional<Dims> strides = view_strides(a, dims_of(second));
    return strides ? text_of({dims_of(second), *strides}) : "copy";
  }
  const Layout b = layout_of(second);
  const Layout* operands[] = {&a, &b};
  return text_of(elementwise_layout(operands));
}

const Recordings& recordings() {
  static const Recordings all(recordings_folder(TIDEMARK_RECORDINGS));
  return all;
}

class Layouts : public testing::TestWithParam<RecordedCase> {};

TEST_P(Layouts, AreThoseOfPyTorch) {
  std::istringstream lines(recordings().text(GetParam()));
  int cases = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string kind, first, second, equals, expected;
    words >> kind >> first >> second;
    if (second != "=") words >> equals;
    words >> expected;
    EXPECT_EQ(answer(kind, first, second), expected) << line;
    ++cases;
  }
  EXPECT_GT(cases, 4000);
}

INSTANTIATE_TEST_SUITE_P(All, Layouts, testing::ValuesIn(recordings().cases()),
                         [](const auto& recorded) { return recorded.param.told(); });

}  // namespace
}  // namespace tidemark
