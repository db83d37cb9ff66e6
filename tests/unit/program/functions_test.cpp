// Functions of torch as programs call them: that their arguments go where they belong.  What they allocate is recorded
// (tests/golden/ops); the interpreter holds the sizes of results against the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimate/predict.h"
#include "io/program_text.h"
#include "program/tiny_program.h"
#include "program/tiny_training.h"
#include "support/sample_card.h"
#include "support/throws.h"

namespace tidemark {
namespace {

using testing::HasSubstr;

/// How often each operation allocated.
std::map<std::string, int> allocations_in(const std::string& text, Spec spec = {}) {
  spec = tiny_spec(std::move(spec));
  spec.torch = "2.11.0";
  std::map<std::string, int> found;
  for (const std::string& line : events_of(text, spec)) {
    const std::size_t from = line.find(' ') + 1;
    if (line[0] == '+') ++found[line.substr(from, line.find(' ', from) - from)];
  }
  return found;
}

/// Of the tiny program with more lines behind its layers; %0 is T[B, S, 64].
std::map<std::string, int> allocations_of(const std::string& lines) {
  const std::string head = "  %2: T[B, S, 100] = call head";
  return allocations_in(with(tiny_program(), head, lines + head));
}

TEST(Programs, OfAModelThatMindsAutocastAreNoneUnderIt) {
  const std::string minds = with(tiny_program(), "class TinyForCausalLM\n", "class TinyForCausalLM\nautocast false\n");
  Spec spec;
  EXPECT_NO_THROW(allocations_in(minds, spec));
  spec.autocast = Autocast::bf16;
  EXPECT_NO_THROW(allocations_in(tiny_program(), spec));
  const auto refused = error_of([&] { allocations_in(minds, spec); });
  EXPECT_EQ(refused->where(), "autocast");

  const std::string minds_another =
      with(tiny_program(), "class TinyForCausalLM\n", "class TinyForCausalLM\nautocast false own\n");
  EXPECT_NO_THROW(allocations_in(minds_another, spec));
  spec.dtype = WeightDtype::fp32;
  EXPECT_EQ(error_of([&] { allocations_in(minds_another, spec); })->where(), "autocast");
}

TEST(Programs, TurnAutocastOffInARegionAlone) {
  Spec spec = tiny_spec();
  spec.dtype = WeightDtype::fp32;
  spec.autocast = Autocast::bf16;
  const std::string head = "  %2: T[B, S, 100] = call head", end = "  exit autocast\n",
                    begin = "  enter autocast(device, dtype=bfloat16, enabled=False)\n";
  const auto events = [&](const std::string& lines) {
    return events_of(with(tiny_program(), head, lines + head), spec);
  };
  EXPECT_EQ(events(begin + end), events(""));
  EXPECT_NE(events(begin), events(""));
}

TEST(ProgramFunctions, TakeArgumentsAsTorchDoes) {
  const std::map<std::string, int> found =
      allocations_of(R"(  %10: T[B, S, 64] = torch.nn.functional.normalize(%0, p=2.0, dim=-1)
  %11: T[B, S, 64] = torch.nn.functional.group_norm(%10, 4)
  %12: T[B, S, 64] = torch.nn.functional.batch_norm(%11, None, None, weight=None, bias=None, training=True, momentum=0.1, eps=1e-05)
  %13: T[B, S, S] = torch.einsum("bij,bkj->bik", %12, %10)
  %14: T[B, S, S] = torch.functional.einsum("bij,bkj->bik", [%12, %10])
  %15: T[B, S, 16] = torch.nn.functional.adaptive_avg_pool1d(%0, 16)
  %16: T[B, 4, 32] = torch.nn.functional.adaptive_avg_pool2d(%0, [4, 32])
  %17: T[B, 4, 32] = torch.nn.functional.max_pool2d(%0, 2, stride=2, padding=0, dilation=1, ceil_mode=False, return_indices=False)
  %18: float32[B] = torch.Tensor.sum(%13, [1, 2], dtype=float32)
  %19: int64[3, 2] = torch.nonzero($labels) !data
  %20: int64[3] view, %21: int64[3] view = torch.nonzero($labels, as_tuple=True) !data
  %22: T[B, S, 16] = torch.nn.functional.interpolate(%0, size=16, scale_factor=None, mode="area", align_corners=None, recompute_scale_factor=None, antialias=False)
  %23: int64[3, 2] = torch.argwhere($labels) !data
  %24: int64[] = torch.Tensor.prod(%21)
  %25: T[B, S, 128] = torch.Tensor.repeat(%0, 1, 1, %24)
  hold %10 %11 %12 %13 %14 %15 %16 %17 %18 %19 %20 %21 %22 %23 %24 %25
)");
  EXPECT_EQ(found.at("aten::group_norm"), 3);  // the result, mean and inverse deviation
  EXPECT_EQ(found.at("aten::batch_norm"), 3);
  EXPECT_EQ(found.at("aten::max_pool2d"), 2);  // and where they are
  EXPECT_EQ(found.at("aten::sum"), 1);
  EXPECT_GE(found.at("aten::einsum"), 2);
  EXPECT_EQ(found.at("aten::adaptive_avg_pool2d"), 3);  // areas are that, too
  EXPECT_EQ(found.at("aten::prod"), 1);
  EXPECT_EQ(found.at("aten::repeat"), 1);
}

constexpr const char* kSpeech =
    R"(  %10: float32[B, S, 64] = torch.nn.functional.log_softmax(%0, dim=-1, _stacklevel=3, dtype=float32)
  %11: float32[S, B, 64] view = torch.Tensor.transpose(%10, 0, 1)
  %12: bool[B, S] = torch.Tensor.ne($labels, -100)
  %13: int64[B] = torch.Tensor.sum(%12, -1)
  %14: int64[B*S] = torch.Tensor.masked_select($labels, %12) !data
  %15: float32[] = torch.nn.functional.ctc_loss(%11, %14, %13, %13, blank=0, reduction="sum", zero_infinity=False)
  %16: T[1, 1, 64] = torch.ones(1, 1, 64, dtype=dtype(%0), device=device)
  %17: T[B, S, 64] = torch._VariableFunctionsClass._weight_norm(%0, %16, 2)
  torch.Tensor.requires_grad_(%16)
  hold %10 %11 %12 %13 %14 %15 %16 %17
)";

TEST(ProgramFunctions, HearSpeech) {
  const std::map<std::string, int> found = allocations_of(kSpeech);
  EXPECT_EQ(found.at("aten::log_softmax"), 2);  // and what was cast
  EXPECT_EQ(found.at("aten::ctc_loss"), 6);     // three of lengths, what is kept, a loss each, and their sum
  EXPECT_EQ(found.at("aten::_weight_norm"), 2);
  EXPECT_GE(found.at("aten::masked_select"), 2);
}

TEST(ProgramFunctions, RefuseWhatOfSpeechIsNotKnown) {
  for (const auto& [from, to] : {std::pair{"_weight_norm(%0, %16, 2)", "_weight_norm(%0, %16, 1)"},
                                 std::pair{"requires_grad_(%16)", "requires_grad_(%17)"},
                                 std::pair{"ctc_loss(%11, %14", "ctc_loss(%11, $labels"},
                                 std::pair{"_softmax(%0, dim=-1", "_softmax(%0, dim=1"}}) {
    const auto refused = error_of([&] { allocations_of(with(kSpeech, from, to)); });
    EXPECT_EQ(refused->code(), Errc::unsupported) << to;
  }
}

TEST(ProgramFunctions, TakeWhatNumbersMakeOfThem) {
  const std::map<std::string, int> found = allocations_of(R"(  %10: bool[B, S] = torch.Tensor.__eq__($labels, -100)
  %11: bool[B] = torch.Tensor.all(%10, dim=-1)
  %12: float32[B, S] = torch.Tensor.__rsub__($labels, 1.0)
  %13: int64[B, S] = torch.Tensor.__rsub__($labels, 1)
  %14: float32[B, S] = torch.Tensor.mul(%12, %12)
  %15: T[B, S, 64] = torch.pow(%0, -0.5)
  %16: T[B, S, 16] = torch.avg_pool1d(%15, [4])
  hold %10 %11 %12 %13 %14 %15 %16
)");
  EXPECT_EQ(found.at("aten::all"), 1);
  EXPECT_EQ(found.at("aten::rsub"), 2);
  EXPECT_EQ(found.at("aten::pow"), 1);
  EXPECT_EQ(found.at("aten::avg_pool2d"), 1);
}

TEST(ProgramFunctions, CopyWhatHasNoViewOfTheOthersSizes) {
  const std::map<std::string, int> found = allocations_of(R"(  %10: T[B, 64, S] view = torch.Tensor.transpose(%0, 1, 2)
  %11: T[B, S, 64] = torch.Tensor.reshape_as(%10, %0)
  %12: T[B, S, 64] view = torch.Tensor.reshape_as(%11, %0)
  hold %10 %11 %12
)");
  EXPECT_EQ(found.at("aten::clone"), 1);
}

TEST(ProgramFunctions, WriteInPlaceWhatHasNoGradient) {
  const std::map<std::string, int> found = allocations_of(R"(  %10: float32[B, S] = torch.Tensor.float($labels)
  %10 = torch.Tensor.abs_(%10)
  %10 = torch.Tensor.clamp_(%10, min=0)
  %11: int64[B, 1] = torch.Tensor.prod($labels, -1, keepdim=True)
  hold %10 %11
)");
  EXPECT_EQ(found.at("aten::prod"), 1);
  EXPECT_FALSE(found.contains("aten::abs"));
  EXPECT_FALSE(found.contains("aten::clamp"));
  const auto error = error_of([] { allocations_of("  %0 = torch.Tensor.abs_(%0)\n"); });
  EXPECT_THAT(error->message(), HasSubstr("a gradient"));
}

TEST(ProgramFunctions, SplitIntoAsManyPiecesAsThereAre) {
  const std::map<std::string, int> found = allocations_of(
      R"(  %10: T[B, S, 8] view, %11: T[B, S, 8] view, %12: T[B, S, 8] view, %13: T[B, S, 8] view, %14: T[B, S, 8] view, %15: T[B, S, 8] view, %16: T[B, S, 12] view, %17: T[B, S, 4] view = torch.split(%0, [8, 8, 8, 8, 8, 8, 12, 4], dim=-1)
  %18: T[B, S, 64] = torch.cat([%10, %11, %12, %13, %14, %15, %16, %17], dim=-1)
  hold %10 %11 %12 %13 %14 %15 %16 %17 %18
)");
  EXPECT_EQ(found.at("aten::cat"), 1);
}

TEST(ProgramFunctions, FindDifferencesBesideWhatStandsBefore) {
  const std::map<std::string, int> found =
      allocations_of(R"(  %10: int64[B, 1] = torch.Tensor.new_zeros($labels, [B, 1])
  %11: int64[B, S] = torch.diff($labels, prepend=%10, dim=-1)
  %12: int64[B, S - 1] = torch.diff($labels)
  hold %10 %11 %12
)");
  EXPECT_EQ(found.at("aten::cat"), 1);
  EXPECT_EQ(found.at("aten::sub"), 2);
}

TEST(ProgramFunctions, PadNoConvolutionWithoutAPadding) {
  const std::map<std::string, int> found = allocations_of(R"(  %10: float32[B, S, 64] = torch.Tensor.float(%0)
  %11: float32[S, 1, 3] = torch.ones(S, 1, 3, dtype=float32, device=device)
  %12: float32[B, S, 62] = torch.nn.functional.conv1d(%10, %11, groups=S)
  %13: float32[B, S, 64] = torch.nn.functional.conv1d(%10, %11, padding=1, groups=S)
  hold %10 %11 %12 %13
)");
  EXPECT_GE(found.at("aten::conv1d"), 2);
}

TEST(ProgramFunctions, RefuseWhatIsNotSimulated) {
  const auto refused = [](const std::string& call) {
    const auto error =
        error_of([&] { allocations_of("  %10: T[B, S, 64] = torch.nn.functional." + call + "\n  hold %10\n"); });
    return error ? error->message() : "nothing";
  };
  EXPECT_THAT(refused("batch_norm(%0, None, None, training=False)"), HasSubstr("statistics that are given"));
  EXPECT_THAT(refused("normalize(%0, p=1.0, dim=-1)"), HasSubstr("another norm than the second"));
  EXPECT_THAT(refused("max_pool2d(%0, 1, return_indices=True)"), HasSubstr("indices among its results"));
  EXPECT_THAT(refused("einsum(\"bij,bij,bij->bij\", %0, %0, %0)"), HasSubstr("more than two tensors"));
}

}  // namespace
}  // namespace tidemark
