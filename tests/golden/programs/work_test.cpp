// What a shipped program computes against torch's own counter: tools/trace/count_flops.py, of torch 2.11.0 and
// transformers 5.17.0.
#include "tensor/work.h"

#include <gtest/gtest.h>

#include "../../unit/estimate/asked.h"
#include "../programs_at_hand.h"

namespace tidemark {
namespace {

TEST(Work, HasConvolutionsAndAttentionOverAllPairs) {
  Spec spec;
  spec.model =
      Value::Map{{"model_type", "vit"},      {"hidden_size", 64}, {"intermediate_size", 176}, {"num_hidden_layers", 2},
                 {"num_attention_heads", 4}, {"image_size", 32},  {"patch_size", 8},          {"num_labels", 10}};
  spec.batch = 2;
  spec.images = 1;
  spec.steps = 1;
  Work work;
  PredictOptions options;
  options.work = &work;
  predict_at_hand(spec, spec.model, card_with_room(), options);
  double products = 0, attention[2] = {0, 0};
  for (const auto& [shape, count] : work.products) products += count * shape.flops();
  for (const auto& [shape, flops] : work.attention_flops) attention[shape.backward ? 1 : 0] += flops;
  EXPECT_EQ(products, 17456640);
  EXPECT_EQ(attention[0], 295936);
  EXPECT_EQ(attention[1], 739840);
}

}  // namespace
}  // namespace tidemark
