#include "command_line.h"

#include <gtest/gtest.h>

#include "support/throws.h"

namespace tidemark::cli {
namespace {

using Words = std::vector<std::string>;

RunOptions parse_run(Words words) { return std::get<RunOptions>(parse_command_line(std::move(words))); }

TEST(ParseCommandLine, SplitsOptionsFromTheProgram) {
  const RunOptions run =
      parse_run({"run", "--gpu", "t4", "--steps", "5", "--", "python", "x.py", "--gpu", "mine", "--", "rest"});
  EXPECT_EQ(run.gpu, "t4");
  EXPECT_EQ(run.steps, 5);
  EXPECT_EQ(run.command, (Words{"python", "x.py", "--gpu", "mine", "--", "rest"}));
}

TEST(ParseCommandLine, TakesTheProgramWithoutDashesToo) {
  const RunOptions run = parse_run({"run", "--gpu=t4", "python", "x.py", "--lr", "3"});
  EXPECT_EQ(run.gpu, "t4");
  EXPECT_EQ(run.command, (Words{"python", "x.py", "--lr", "3"}));
}

TEST(ParseCommandLine, ReadsEveryOption) {
  const RunOptions run = parse_run({"run",
                                    "--gpu",
                                    "t4",
                                    "--memory",
                                    "80GiB",
                                    "--json",
                                    "-",
                                    "--html",
                                    "a.html",
                                    "--csv",
                                    "a.csv",
                                    "--snapshot",
                                    "s",
                                    "--fake-weights",
                                    "--moe-routing",
                                    "skewed:0.5",
                                    "--allocator",
                                    "expandable_segments:True",
                                    "--keep-going",
                                    "--quiet",
                                    "--",
                                    "x"});
  EXPECT_EQ(run.memory, "80GiB");
  EXPECT_EQ(run.files.json, "-");
  EXPECT_EQ(run.files.html, "a.html");
  EXPECT_EQ(run.snapshot, "s");
  EXPECT_EQ(run.moe_routing, "skewed:0.5");
  EXPECT_EQ(run.allocator, "expandable_segments:True");
  EXPECT_TRUE(run.fake_weights && run.keep_going && run.quiet);
}

TEST(ParseCommandLine, PassesOnWhatEachRunOfAPlanIsTold) {
  const auto plan = std::get<PlanOptions>(
      parse_command_line({"plan", "--vary", "b=1..4", "--gpu", "t4", "--keep-going", "--vary=s=1,2", "--jobs", "3",
                          "--allocator=a:1,b:2", "--json", "-", "--", "x", "{b}", "--gpu", "mine"}));
  EXPECT_EQ(plan.vary.vary, (Words{"b=1..4", "s=1,2"}));
  EXPECT_EQ(plan.vary.run_words, (Words{"--gpu", "t4", "--allocator", "a:1,b:2", "--keep-going"}));
  EXPECT_EQ(plan.vary.command, (Words{"x", "{b}", "--gpu", "mine"}));
  EXPECT_EQ(plan.vary.jobs, 3);
  EXPECT_EQ(plan.vary.json, "-");
  for (const Words& wrong : {Words{"--jobs", "0"}, Words{"--jobs", "many"}, Words{"--snapshot", "s"}, Words{"extra"}}) {
    Words words{"plan", "--vary", "b=1..4", "--gpu", "t4"};
    words.insert(words.end(), wrong.begin(), wrong.end());
    words.insert(words.end(), {"--", "x", "{b}"});
    EXPECT_TRUE(error_of([&] { parse_command_line(words); })) << wrong[0];
  }
}

TEST(ParseCommandLine, ReadsTheOtherCommands) {
  EXPECT_TRUE(std::get<GpusOptions>(parse_command_line({"gpus", "--json"})).json);
  EXPECT_EQ(std::get<ReportOptions>(parse_command_line({"report", "r.json", "--html", "r.html"})).files.html, "r.html");
  EXPECT_EQ(std::get<PrepareOptions>(parse_command_line({"prepare", "--python", "py"})).python, "py");
  EXPECT_TRUE(std::holds_alternative<VersionOptions>(parse_command_line({"version"})));
}

TEST(ParseCommandLine, HelpIsARequest) {
  for (const Words& words : {Words{}, Words{"--help"}, Words{"run", "--help"}, Words{"gpus", "-h"}})
    EXPECT_THROW(parse_command_line(words), HelpRequest);
}

struct BadLine {
  const char* name;
  Words words;
  const char* says;
};

class ParseCommandLineRefuses : public testing::TestWithParam<BadLine> {};

TEST_P(ParseCommandLineRefuses, AndSaysWhy) {
  const auto error = error_of([] { parse_command_line(GetParam().words); });
  ASSERT_TRUE(error);
  EXPECT_NE(std::string(error->what()).find(GetParam().says), std::string::npos) << error->what();
}

INSTANTIATE_TEST_SUITE_P(
    Lines, ParseCommandLineRefuses,
    testing::Values(
        BadLine{"command", {"rnu"}, "there is no command rnu (did you mean run?)"},
        BadLine{"option", {"run", "--gppu", "t4", "--", "x"}, "there is no option --gppu (did you mean --gpu?)"},
        BadLine{"option_with_value", {"run", "--step=4", "--", "x"}, "did you mean --steps?"},
        BadLine{"gpus_option", {"gpus", "--jsn"}, "did you mean --json?"},
        BadLine{"before_dashes", {"run", "python", "--", "x"}, "\"python\" is not understood before --"},
        BadLine{"steps_zero", {"run", "--steps", "0", "--", "x"}, "--steps"},
        BadLine{"steps_text", {"run", "--steps", "many", "--", "x"}, "--steps"},
        BadLine{"steps_and_keep_going", {"run", "--steps", "2", "--keep-going", "--", "x"}, "cannot be combined"},
        BadLine{"memory", {"run", "--memory", "80G", "--", "x"}, "GB or GiB"},
        BadLine{"routing", {"run", "--moe-routing", "skew", "--", "x"}, "is not a routing"},
        BadLine{"skew", {"run", "--moe-routing", "skewed:-1", "--", "x"}, "is not a routing"},
        BadLine{"skew_over_one", {"run", "--moe-routing", "skewed:2", "--", "x"}, "is not a routing"},
        BadLine{"length", {"run", "--generate-length", "long", "--", "x"}, "is not a number of tokens"},
        BadLine{"no_length", {"run", "--generate-length", "0", "--", "x"}, "is not a number of tokens"},
        BadLine{"two_stdouts", {"run", "--json", "-", "--csv", "-", "--", "x"}, "cannot both"},
        BadLine{"report_file", {"report"}, "file"}, BadLine{"no_value", {"run", "--gpu"}, "--gpu"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace tidemark::cli
