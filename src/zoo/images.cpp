#include "zoo/images.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/value_reader.h"

namespace tidemark {

Dims image_sizes(std::int64_t images, std::int64_t channels, std::int64_t side) {
  return {images, channels, side, side};
}

BatchSizes image_batch(const Data& data, std::int64_t channels, std::int64_t side) {
  BatchSizes sizes;
  sizes.pixel_values = image_sizes(data.batch, channels, side);
  sizes.pixels_first = true;
  if (data.labels) sizes.labels = Dims{data.batch};
  return sizes;
}

BatchSizes with_images(BatchSizes text, const Data& data, std::int64_t tokens, const Dims& pixel_values) {
  if (data.images == 0 && data.image_tokens)
    throw Error(Errc::bad_value, "there are no images to have tokens", "image_tokens", "set images");
  if (data.images == 0) return text;
  if (data.image_tokens && *data.image_tokens != tokens)
    throw Error(Errc::bad_value,
                fmt::format("the model makes {} tokens of an image, not {}", tokens, *data.image_tokens),
                "image_tokens");
  constexpr std::int64_t kMostImages = 1 << 20;  // of a batch: there is a tensor for each
  if (data.images > kMostImages / data.batch)
    throw Error(Errc::bad_value,
                fmt::format("{} images in each of {} samples are more than 2^20", data.images, data.batch), "images");
  const std::int64_t length = (*text.input_ids)[1];
  if (tokens > length / data.images)
    throw Error(Errc::bad_value, fmt::format("{} tokens hold no {} images of {} tokens", length, data.images, tokens),
                "seq");
  text.pixel_values = pixel_values;
  return text;
}

std::vector<std::size_t> feature_layers(const Value& vision_feature_layer, std::int64_t num_hidden_layers) {
  const ValuePath path{"config.json", "vision_feature_layer"};
  const std::int64_t most = num_hidden_layers;
  const Value::List one{vision_feature_layer};
  std::vector<std::size_t> layers;
  for (const Value& value : vision_feature_layer.as_list() ? *vision_feature_layer.as_list() : one) {
    const std::int64_t layer = to_integer(value, path);
    if (layer < -most - 1 || layer > most)
      fail_expected(fmt::format("a number from {} to {}, as the vision tower has {} layers", -most - 1, most, most),
                    value, path);
    layers.push_back(static_cast<std::size_t>(layer < 0 ? most + 1 + layer : layer));
  }
  if (layers.empty()) throw Error(Errc::bad_value, "it names no layer", path.text());
  return layers;
}

void torch_compilable_check(const Tensor& condition) {
  condition.run().stream_calls.host_waits();  // the message has the number of tokens
  const Tensor check = compare("aten::_is_all_true", condition);
  check.run().stream_calls.host_waits();
}

Tensor placeholder_mask(Tensor ids) {
  const Tensor input_ids = std::move(ids);
  Tensor special_image_mask = compare("aten::eq", input_ids);
  const Tensor n_image_tokens = count_true(special_image_mask);
  special_image_mask = unsqueeze(special_image_mask, -1);
  const Tensor all_found = compare("aten::eq", mul_scalar(n_image_tokens));
  torch_compilable_check(all_found);
  return special_image_mask;
}

}  // namespace tidemark
