#include <gtest/gtest.h>

#include "io/program_text.h"
#include "program/tiny_program.h"
#include "support/sample_card.h"
#include "support/throws.h"

namespace tidemark {
namespace {

Program read(const std::string& text) { return io::read_program_text(text, "tiny.program"); }

/// With one change of the program that is right.
Error error_with(const std::string& from, const std::string& to) {
  return *error_of([&] { read(with(tiny_program(), from, to)); });
}

TEST(ReadProgram, FindsHeaderModulesAndClasses) {
  const Program program = read(tiny_program());
  EXPECT_EQ(program.class_name, "TinyForCausalLM");
  EXPECT_EQ(program.main, "TinyForCausalLM#1");
  EXPECT_EQ(program.bodies.size(), 6U);
  EXPECT_EQ(program.symbols, (std::vector<std::string>{"B", "S", "width", "layers"}));
  ASSERT_EQ(program.root.children.size(), 3U);
  EXPECT_TRUE(program.root.children[1].children[0].checkpointable);
  EXPECT_EQ(program.root.children[2].parameters[0].tied_to, "embed.weight");
  EXPECT_EQ(program.inputs[1].name, "labels");
}

TEST(ReadProgram, OfAModuleWithoutAConfigurationTheClassIsTheType) {
  std::string text = tiny_program();
  for (const std::string line : {"model_type ", "attention ", "config "}) {
    const std::size_t at = text.find("\n" + line) + 1;
    text.erase(at, text.find('\n', at) + 1 - at);
  }
  const Program program = read(with(with(with(text, "width", "64"), "layers - 1", "1"), "layers - 1", "1"));
  EXPECT_EQ(program.model_type, "TinyForCausalLM");
  EXPECT_EQ(*program.config.find("model_type")->as_text(), "TinyForCausalLM");
  EXPECT_EQ(program.symbols, (std::vector<std::string>{"B", "S"}));
  EXPECT_TRUE(program.is_of_own_module);
  EXPECT_FALSE(read(tiny_program()).is_of_own_module);
}

TEST(ReadProgram, NamesTheLineAndTheNearestName) {
  const Error value = error_with("torch.Tensor.mul(%2, %3)", "torch.Tensor.mul(%2, %33)");
  EXPECT_EQ(value.message(), "no value %33 here");
  EXPECT_EQ(value.where(), "tiny.program:49");
  EXPECT_EQ(value.hint(), "did you mean %3?");
  const Error body = error_with("call norm: TinyNorm#1", "call norm: TinyNrom#1");
  EXPECT_EQ(body.message(), "no class TinyNrom#1 in this program");
  EXPECT_EQ(body.hint(), "did you mean TinyNorm#1?");
  EXPECT_EQ(error_with("TinyNorm#1(0=$0)", "TinyNorm#1(x=$0)").message(), "TinyNorm#1 takes no x");
  EXPECT_EQ(error_with("T[B, S, 128] = call", "half[B, S, 128] = call").message(), "no type half");
  EXPECT_EQ(error_with("  return %4\n", "").message(), "TinyLayer#1 does not end with \"return …\"");
  EXPECT_EQ(error_with("cache false", "holds S => 4").message(), "\"S => 4\" is no comparison");
  EXPECT_EQ(error_with("attention sdpa\n", "").message(), "its header has no line \"attention …\"");
  EXPECT_EQ(error_with("tidemark-program 1", "tidemark-program 7").message(), "it is no captured program");
}

TEST(ReadProgram, ListsEveryFunctionThatIsNotSimulated) {
  std::string text = with(tiny_program(), "torch.chunk", "torch.fft.fft");
  text = with(text, "torch.Tensor.float", "torch.Tensor.digamma");
  const Error error = *error_of([&] { read(text); });
  EXPECT_EQ(error.code(), Errc::unsupported);
  EXPECT_EQ(error.message(), "functions of torch are not simulated: torch.Tensor.digamma, torch.fft.fft");
}

TEST(ReadProgram, RefusesArgumentsThatAFunctionHasNotHere) {
  EXPECT_EQ(error_with("dim=-1)", "dim=-1, out=%1)").message(), "torch.chunk with the argument out is not simulated");
  EXPECT_NO_THROW(read(with(tiny_program(), "dim=-1)", "dim=-1, out=None)")));
}

}  // namespace
}  // namespace tidemark
