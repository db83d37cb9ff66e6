#include "ops/convolution_scratch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/release.h"
#include "memory/card.h"
#include "ops/memory_format.h"
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

std::string row_of(const Tensor& x, const Tensor& weight, const ConvolutionShape& shape, bool channels_last) {
  std::string row = fmt::format("\n{} {} {} {}", name_of(x.dtype()), sizes_text(weight.sizes(), 2),
                                sizes_text(x.sizes(), 2), weight.size(shape.transposed ? 1 : 0));
  Dims kernel, none, one;
  for (int d = 2; d < weight.dims(); ++d) {
    kernel.push_back(weight.size(d));
    none.push_back(0);
    one.push_back(1);
  }
  const bool is_patches = shape.stride == kernel && shape.padding == none && shape.dilation == one && shape.groups == 1;
  if (is_patches && x.size(1) == 3 && !channels_last && !shape.transposed) return row;
  row += fmt::format(" from {} by {} around {} over {} in {}", x.size(1), sizes_text(shape.stride, 0),
                     sizes_text(shape.padding, 0), sizes_text(shape.dilation, 0), shape.groups);
  if (channels_last) row += " channels_last";
  if (!shape.transposed) return row;
  row += " transposed";
  return shape.output_padding == none ? row : row + " with " + sizes_text(shape.output_padding, 0);
}

struct Row {
  ConvolutionScratch scratch;
  std::int64_t most_images = 0;
};

/// What stands behind a row's key.
Row read_row(std::string_view line, std::int64_t most_images, std::int64_t images) {
  constexpr std::string_view kMost = "most ";
  std::int64_t bytes[] = {0, 0, 0};
  for (int part = 0; !line.empty(); ++part) {
    const std::size_t bar = std::min(line.find(" | "), line.size());
    std::string_view text = line.substr(0, bar);
    line.remove_prefix(std::min(bar + 3, line.size()));
    if (text.starts_with(kMost)) {
      text.remove_prefix(kMost.size());
      most_images = take_number(text);
    } else {
      TM_CHECK(part < 3, "a broken table of convolutions");
      bytes[part] = value_at(text, images);
    }
  }
  return {{bytes[0], bytes[1], bytes[2]}, most_images};
}

/// The durations of a waveform that the table has this row for.  tools/trace/record_convolutions.py, waves
std::string known_durations(const ConvolutionTable* table, const std::string& key, const Tensor& x) {
  constexpr double kSamplesOfSecond = 16000;
  if (!table || x.dims() != 3 || x.size(1) != 1) return "";
  std::vector<double> seconds;
  const std::size_t begin = key.find(' ', key.find(' ') + 1) + 1, end = key.find(' ', begin);
  const std::string front = key.substr(0, begin), behind = key.substr(end) + " | ";
  for (std::size_t at = table->rows.find(front); at != std::string_view::npos; at = table->rows.find(front, at + 1)) {
    std::string_view line = table->rows.substr(at + front.size());
    const std::size_t digits = line.find(' ');
    if (!line.substr(digits).starts_with(behind)) continue;
    const Row row = read_row(line.substr(digits + behind.size(), line.find('\n') - digits - behind.size()), 512, 1);
    if (x.size(0) <= row.most_images) seconds.push_back(static_cast<double>(take_number(line)) / kSamplesOfSecond);
  }
  std::ranges::sort(seconds);
  return seconds.empty() ? "" : fmt::format("the tables have {:g} s of audio at 16 kHz", fmt::join(seconds, ", "));
}

/// Of half precision alone.  torch: native/Convolution.cpp, use_cudnn_depthwise and
/// check_cudnn_depthwise_workload_with_filter (2.15.0)
bool is_quick_by_cudnn(const Tensor& x, const Tensor& weight, const ConvolutionShape& shape) {
  const std::int64_t channels = x.size(1), width = x.size(3), filter = weight.size(3), stride = shape.stride[1];
  const bool is_square = shape.stride[0] == stride || x.size(2) == 1;
  if (x.dtype() != Dtype::f16 || channels < 32 || !is_square || shape.dilation != Dims{1, 1}) return false;
  if (x.size(2) == 1 && stride == 1) return true;
  if (weight.size(2) != filter || (filter != 1 && filter != 3 && filter != 5) || width < 7) return false;
  if (stride != 2) return stride == 1;
  if (filter == 1) return x.size(0) == 1 ? width <= 28 : x.size(0) <= 16 && channels >= 128 && width <= 7;
  return x.size(0) == 1 || channels >= 512 || (channels >= 256 && width >= 28);
}

}  // namespace

bool is_depthwise(const Tensor& x, const Tensor& weight, const ConvolutionShape& shape) {
  if (shape.transposed || shape.groups <= 1 || shape.groups != x.size(1) || weight.size(0) % x.size(1) != 0)
    return false;
  if (x.dims() == 3) return weight.size(2) > 1;
  const bool channels_last = is_channels_last(x.layout()) || is_channels_last(weight.layout());
  return x.dims() == 4 && !channels_last && !is_quick_by_cudnn(x, weight, shape);
}

ConvolutionScratch convolution_scratch(const Tensor& x, const Tensor& weight, const ConvolutionShape& shape,
                                       bool channels_last) {
  if (is_depthwise(x, weight, shape)) return {};
  const Card& card = x.run().card();
  const std::string key = row_of(x, weight, shape, channels_last);
  const ConvolutionTable* table = find_table(card, x.run().torch().cudnn);
  const std::size_t at = table ? table->rows.find(key + " | ") : std::string_view::npos;
  if (at != std::string_view::npos) {
    const std::string_view line = table->rows.substr(at + key.size() + 3);
    const Row row = read_row(line.substr(0, line.find('\n')), x.dims() < 5 ? 512 : 65536, x.size(0));
    if (x.size(0) <= row.most_images) return row.scratch;
  }
  const AskCudnn& ask = x.run().config().ask_cudnn;
  std::string why;
  try {
    if (ask) return ask(std::string_view(key).substr(1), x.size(0));
  } catch (const Error& error) {
    why = ", and cuDNN was not asked: " + error.message();
  }
  throw Error(Errc::unsupported,
              fmt::format("cuDNN's scratch memory is not known for a convolution of {} x {} on {}: {}{}", x.size(0),
                          x.size(1), card.key, key.substr(1), why),
              {}, known_durations(table, key, x));
}

}  // namespace tidemark
