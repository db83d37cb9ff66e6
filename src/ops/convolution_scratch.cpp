#include "ops/convolution_scratch.h"

#include <fmt/format.h>

#include <algorithm>
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

std::string row_of(const Tensor& x, const Tensor& weight, const ConvolutionShape& shape) {
  std::string row = fmt::format("\n{} {} {} {}", name_of(x.dtype()), sizes_text(weight.sizes(), 2),
                                sizes_text(x.sizes(), 2), weight.size(0));
  Dims kernel, none, one;
  for (int d = 2; d < weight.dims(); ++d) {
    kernel.push_back(weight.size(d));
    none.push_back(0);
    one.push_back(1);
  }
  const bool is_patches = shape.stride == kernel && shape.padding == none && shape.dilation == one && shape.groups == 1;
  if (is_patches && x.size(1) == 3) return row;
  return row + fmt::format(" from {} by {} around {} over {} in {}", x.size(1), sizes_text(shape.stride, 0),
                           sizes_text(shape.padding, 0), sizes_text(shape.dilation, 0), shape.groups);
}

}  // namespace

bool is_depthwise(const Tensor& x, const Tensor& weight, const ConvolutionShape& shape) {
  return x.dims() == 3 && shape.groups > 1 && shape.groups == x.size(1) && weight.size(2) > 1;
}

ConvolutionScratch convolution_scratch(const Tensor& x, const Tensor& weight, const ConvolutionShape& shape) {
  if (is_depthwise(x, weight, shape)) return {};
  const Card& card = x.run().card();
  const std::string row = row_of(x, weight, shape);
  const ConvolutionTable* table = find_table(card, x.run().torch().cudnn);
  const std::size_t at = table ? table->rows.find(row + " | ") : std::string_view::npos;
  const std::int64_t most_images = x.dims() < 5 ? 512 : 65536;
  if (at == std::string_view::npos || x.size(0) > most_images)
    throw Error(Errc::unsupported,
                fmt::format("cuDNN's scratch memory is not known for a convolution of {} x {} on {}: {}", x.size(0),
                            x.size(1), card.key, row.substr(1)));
  std::string_view line = table->rows.substr(at + row.size() + 3);
  line = line.substr(0, line.find('\n'));
  std::int64_t bytes[] = {0, 0, 0};
  for (std::int64_t& part : bytes) {
    const std::size_t bar = std::min(line.find(" | "), line.size());
    part = value_at(line.substr(0, bar), x.size(0));
    line.remove_prefix(std::min(bar + 3, line.size()));
  }
  return {bytes[0], bytes[1], bytes[2]};
}

}  // namespace tidemark
