#include "process.h"

#include <gtest/gtest.h>

#include "support/throws.h"

namespace tidemark::cli {
namespace {

std::vector<std::string> shell(const std::string& line) { return {"/bin/sh", "-c", line}; }

TEST(RunHelper, CapturesOutputAndExitCode) {
  const Finished finished = run_helper(shell("echo out; echo err >&2; exit 3"), {});
  EXPECT_EQ(finished.exit_code, 3);
  EXPECT_EQ(finished.output, "out\n");
  EXPECT_EQ(finished.errors, "err\n");
}

TEST(RunHelper, CountsASignalAsAShellDoes) { EXPECT_EQ(run_helper(shell("kill -9 $$"), {}).exit_code, 137); }

TEST(RunHelper, SaysWhenAProgramCannotStart) {
  const auto error = error_of([] { run_helper({"/nonexistent/program"}, {}); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Errc::io);
}

TEST(RunHelpers, KeepsTheOrder) {
  const auto finished =
      run_helpers({shell("sleep 0.05; echo 0"), shell("echo 1"), shell("echo 2"), shell("exit 4")}, 2, {});
  ASSERT_EQ(finished.size(), 4U);
  EXPECT_EQ(finished[0].output, "0\n");
  EXPECT_EQ(finished[2].output, "2\n");
  EXPECT_EQ(finished[3].exit_code, 4);
}

TEST(Conversation, HasAnAnswerToEachLine) {
  Conversation counts(shell("echo ready; while read line; do echo ${#line}; done"), {});
  EXPECT_EQ(counts.answer(), "ready");
  EXPECT_EQ(counts.answer("four"), "4");
  EXPECT_EQ(counts.answer("of seven"), "8");
}

TEST(Conversation, SaysWhatWentWrongWhereItHasEnded) {
  Conversation ends(shell("read line; echo \"no $line\" >&2; exit 3"), {});
  EXPECT_EQ(ends.answer("more"), std::nullopt);
  EXPECT_EQ(ends.errors(), "no more\n");
  EXPECT_EQ(ends.answer("again"), std::nullopt);  // and no signal
  EXPECT_EQ(error_of([] { Conversation({"/nonexistent/program"}, {}); })->code(), Errc::io);
}

TEST(ReasonIn, IsTheLastLine) {
  EXPECT_EQ(reason_in("a warning\ntidemark: no card\n\n"), "no card");
  EXPECT_EQ(reason_in("ValueError: 3"), "ValueError: 3");
  EXPECT_EQ(reason_in(""), "it said nothing");
}

TEST(FindCommand, LooksAlongThePath) {
  Environment environment;
  environment.set("PATH", "/nonexistent:/bin:/usr/bin");
  EXPECT_EQ(find_command("sh", environment), "/bin/sh");
  EXPECT_EQ(find_command("/bin/sh", environment), "/bin/sh");
  EXPECT_EQ(find_command("no-such-command-here", environment), std::nullopt);
  EXPECT_EQ(find_command("", environment), std::nullopt);
  EXPECT_EQ(find_command("/etc/passwd", environment), std::nullopt);  // not a program
}

}  // namespace
}  // namespace tidemark::cli
