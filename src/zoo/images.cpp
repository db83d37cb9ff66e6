#include "zoo/images.h"

#include <fmt/format.h>

#include "base/error.h"

namespace tidemark {

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

void torch_compilable_check(const Tensor& condition) {
  condition.run().stream_calls.host_waits();  // the message has the number of tokens
  const Tensor check = compare("aten::_is_all_true", condition);
  check.run().stream_calls.host_waits();
}

}  // namespace tidemark
