#include "program/stack.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "io/program_text.h"

namespace tidemark {
namespace {

/// A model of text: `embeds` are calls before the layers, `first` and `second` what either is given besides, `targets`
/// what the loss compares with.
Program written(const std::string& embeds, const std::string& first, const std::string& second,
                const std::string& targets = "$labels", const std::string& class_name = "TinyForCausalLM") {
  return io::read_program_text(fmt::format(R"(tidemark-program 1
model_type tiny
class {4}
transformers 5.17.0
torch 2.11.0
attention sdpa
cache false
T bfloat16
sizes B=2 S=8
input input_ids: int64[B, S]
input labels: int64[B, S]
config {{}}

modules {4}
  embed_tokens: nn.Embedding
    param weight: T[16, 4]
  embed_positions: PositionalEmbedding
    param weight: T[16, 4]
  layers: nn.ModuleList
    0..1: Layer checkpointable
      norm: nn.LayerNorm
        param weight: T[4]
        param bias: T[4]
  lm_head: nn.Linear
    param weight: T[16, 4]

class Embedding#1(0: int64[B, S]):
  %0: T[B, S, 4] = torch.nn.functional.embedding($0, self.weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False)
  return %0

class Norm#1(0: T[B, S, 4]):
  %0: T[B, S, 4] = torch.nn.functional.layer_norm($0, [4], self.weight, self.bias, 1e-05)
  return %0

class Layer#1(0: T[B, S, 4], mask: T[B, S, 4]):
  %0: T[B, S, 4] = call norm: Norm#1(0=$0)
  %1: T[B, S, 4] = torch.Tensor.add(%0, $mask)
  return %1

class Linear#1(0: T[B, S, 4]):
  %0: T[B, S, 16] = torch.nn.functional.linear($0, self.weight, None)
  return %0

class {4}#1(input_ids: int64[B, S], labels: int64[B, S]):
  %0: T[B, S, 4] = call embed_tokens: Embedding#1(0=$input_ids)
{0}  %2: T[B, S, 4] = torch.Tensor.mul(%0, 2.0)
  %3: T[B, S, 4] = call layers.0: Layer#1(0=%0, mask={1})
  %4: T[B, S, 4] = call layers.1: Layer#1(0=%3, mask={2})
  del %3
  %5: T[B, S, 16] = call lm_head: Linear#1(0=%4)
  %6: float32[B, S, 16] = torch.Tensor.float(%5)
  %7: float32[B*S, 16] view = torch.Tensor.view(%6, -1, 16)
  del %6
  %8: int64[B*S] view = torch.Tensor.view({3}, -1)
  %9: float32[] = torch.nn.functional.cross_entropy(%7, %8, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0)
  del %7 %8
  return loss=%9, logits=%5
)",
                                           embeds, first, second, targets, class_name),
                               "tiny");
}

TEST(Stack, IsWhatRunsOneBodyOnHiddenStates) {
  const Program program = written("", "%2", "%2");
  const std::optional<StackPaths> stack = find_stack(program);
  ASSERT_TRUE(stack);
  EXPECT_EQ(stack->before, std::vector<std::string>{"embed_tokens"});
  EXPECT_EQ(stack->layers, "layers");
  EXPECT_EQ(stack->behind, std::vector<std::string>{"lm_head"});
  EXPECT_EQ(stack->features, 4);
}

TEST(Stack, IsNoneWherePositionsAreLearnedOrLayersAreGivenOtherThingsOrTheFirstOutputIsNoLogits) {
  EXPECT_FALSE(find_stack(written("  %1: T[B, S, 4] = call embed_positions: Embedding#1(0=$input_ids)\n", "%2", "%2")));
  EXPECT_FALSE(find_stack(written("", "%2", "%0")));
  EXPECT_FALSE(find_stack(written("", "%2", "%2", "$labels", "TinyForMaskedLM")));
}

TEST(Stack, LeavesOutWhatLeadsToTheLossAlone) {
  const Program program = written("", "%2", "%2");
  const std::optional<Body> body = without_loss(program);
  ASSERT_TRUE(body);
  std::vector<std::string> functions;
  for (const Statement& statement : body->statements)
    if (statement.kind == Statement::Kind::function) functions.push_back(statement.name);
  EXPECT_EQ(functions, std::vector<std::string>{"torch.Tensor.mul"});
}

TEST(Stack, IsRunWholeWhereTheLossIsMadeOfSomethingElse) {
  Program program = written("", "%2", "%2");
  program.bodies.at(program.main).parameters[1] = "targets";
  EXPECT_FALSE(without_loss(program));
}

}  // namespace
}  // namespace tidemark
