#include "ops/convolution_scratch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/memory_format.h"
#include "support/throws.h"
#include "tensor/run.h"
#include "tensor/torch_release.h"

namespace tidemark {
namespace {

struct Merged {
  std::int64_t channels, hidden;
};

/// Patches merged four by four, as GLM-4.1V does it.
ConvolutionScratch scratch_of(std::string_view torch, Merged merged, std::int64_t count, bool channels_last = true,
                              AskCudnn ask = {}) {
  RunConfig config;
  config.ask_cudnn = std::move(ask);
  config.card.key = "hopper";
  config.card.compute_capability_major = 9;
  config.card.total_bytes = config.allocator.device.total_bytes = std::int64_t{1} << 40;
  config.torch = &torch_rules(torch);
  tidemark::Run run{config};
  const Dims sizes{count, merged.channels, 2, 2};
  const Tensor x = empty(run, layout_of(sizes, channels_last), Dtype::bf16);
  const Tensor weight = empty(run, Dims{merged.hidden, merged.channels, 2, 2}, Dtype::bf16);
  return convolution_scratch(x, weight, {{2, 2}, {0, 0}, {1, 1}}, channels_last);
}

using Bytes = std::array<std::int64_t, 3>;

Bytes bytes_of(const ConvolutionScratch& scratch) {
  return {scratch.forward_bytes, scratch.backward_bytes, scratch.input_bytes};
}

/// As cuDNN 9.19 and 9.26 were asked for.
TEST(ConvolutionScratch, WithChannelsLastHasRowsOfItsOwn) {
  EXPECT_EQ(bytes_of(scratch_of("2.11.0", {1536, 4096}, 64)), (Bytes{131, 128, 131}));
  EXPECT_EQ(bytes_of(scratch_of("2.11.0", {1536, 4096}, 4096)), (Bytes{2097347, 786619, 131}));
  EXPECT_EQ(bytes_of(scratch_of("2.15.0", {1536, 4096}, 64)), (Bytes{196795, 131, 131}));
  EXPECT_EQ(bytes_of(scratch_of("2.15.0", {64, 64}, 8)), (Bytes{0, 0, 0}));
  EXPECT_NE(bytes_of(scratch_of("2.15.0", {64, 64}, 8, false)), (Bytes{0, 0, 0}));
}

TEST(ConvolutionScratch, IsNotKnownOfMoreThanWereRecorded) {
  EXPECT_EQ(error_of([] { scratch_of("2.15.0", {64, 64}, 128); }), std::nullopt);
  const auto error = error_of([] { scratch_of("2.15.0", {64, 64}, 129); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Errc::unsupported);
  EXPECT_EQ(error->what(), std::string("cuDNN's scratch memory is not known for a convolution of 129 x 64 on hopper: "
                                       "bfloat16 2x2 2x2 64 from 64 by 2x2 around 0x0 over 1x1 in 1 channels_last"));
}

TEST(ConvolutionScratch, IsAskedForWhereNoTableHasIt) {
  std::vector<std::string> asked;
  const AskCudnn ask = [&](std::string_view row, std::int64_t images) {
    asked.push_back(std::string(row) + " of " + std::to_string(images));
    return ConvolutionScratch{1, 2, 3};
  };
  EXPECT_EQ(bytes_of(scratch_of("2.15.0", {64, 64}, 8, true, ask)), (Bytes{0, 0, 0}));
  EXPECT_TRUE(asked.empty());
  EXPECT_EQ(bytes_of(scratch_of("2.15.0", {64, 48}, 8, true, ask)), (Bytes{1, 2, 3}));
  EXPECT_EQ(bytes_of(scratch_of("2.15.0", {64, 64}, 129, false, ask)), (Bytes{1, 2, 3}));
  EXPECT_EQ(asked,
            (std::vector<std::string>{"bfloat16 2x2 2x2 48 from 64 by 2x2 around 0x0 over 1x1 in 1 channels_last of 8",
                                      "bfloat16 2x2 2x2 64 from 64 by 2x2 around 0x0 over 1x1 in 1 of 129"}));
}

TEST(ConvolutionScratch, SaysWhyCudnnWasNotAsked) {
  const auto error = error_of([] {
    scratch_of("2.15.0", {64, 48}, 8, true, [](std::string_view, std::int64_t) -> ConvolutionScratch {
      throw Error(Errc::unsupported, "no Python is active");
    });
  });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->what(), testing::EndsWith("in 1 channels_last, and cuDNN was not asked: no Python is active"));
}

}  // namespace
}  // namespace tidemark
