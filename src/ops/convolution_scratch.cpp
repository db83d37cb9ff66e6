#include "ops/convolution_scratch.h"

#include <fmt/format.h>
#include <charconv>

#include "base/error.h"
#include "base/release.h"
#include "memory/card.h"
#include "tensor/run.h"
#include "tensor/torch_rules.h"

namespace tidemark {
namespace {

std::string sizes_text(const Dims& sizes, int from) {
  std::string text;
  for (int d = from; d < sizes.count(); ++d) {
    if (d > from) text += 'x';
    text += std::to_string(sizes[d]);
  }
  return text;
}

std::int64_t take_number(std::string_view& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  TM_CHECK(error == std::errc(), "a broken table of convolutions");
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (!text.empty()) text.remove_prefix(1);  // what parts it from the next
  return number;
}

/// The value of the last piece that begins at or before `images`.
std::int64_t value_at(std::string_view pieces, std::int64_t images) {
  std::int64_t value = 0;
  while (!pieces.empty()) {
    const std::int64_t first = take_number(pieces), slope = take_number(pieces), constant = take_number(pieces);
    if (first > images) break;
    value = slope * images + constant;
  }
  return value;
}

const ConvolutionTable* find_table(const Card& card, std::string_view cudnn) {
  const std::int64_t capability = card.compute_capability_major * 10 + card.compute_capability_minor;
  const ConvolutionTable* newest = nullptr;
  for (const ConvolutionTable& table : convolution_tables()) {
    const auto release = release_of(table.cudnn);
    if (table.compute_capability != capability || release > release_of(cudnn)) continue;
    if (!newest || release > release_of(newest->cudnn)) newest = &table;
  }
  return newest;
}

}  // namespace

ConvolutionScratch convolution_scratch(const Tensor& x, const Tensor& weight) {
  const Card& card = x.run().card();
  const std::string row = fmt::format("\n{} {} {} {} | ", name_of(x.dtype()), sizes_text(weight.sizes(), 2),
                                      sizes_text(x.sizes(), 2), weight.size(0));
  const ConvolutionTable* table = find_table(card, x.run().torch().cudnn);
  const std::size_t at = table ? table->rows.find(row) : std::string_view::npos;
  const std::int64_t most_images = x.dims() == 4 ? 512 : 65536;
  if (at == std::string_view::npos || x.size(1) != 3 || x.size(0) > most_images)
    throw Error(
        Errc::unsupported,
        fmt::format("cuDNN's scratch memory is not known for {} patches of {} in {} images of {} to {} channels "
                    "in {} on {}",
                    sizes_text(weight.sizes(), 2), x.size(1), x.size(0), sizes_text(x.sizes(), 2), weight.size(0),
                    name_of(x.dtype()), card.key));
  const std::string_view rest = table->rows.substr(at + row.size());
  const std::string_view line = rest.substr(0, rest.find('\n'));
  const std::size_t bar = line.find(" | ");
  return {value_at(line.substr(0, bar), x.size(0)), value_at(line.substr(bar + 3), x.size(0))};
}

}  // namespace tidemark
