#include "interpreter.h"

#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "support/throws.h"

namespace tidemark::cli {
namespace {

using Words = std::vector<std::string>;

TEST(PythonOfScript, KnowsEveryUsualFirstLine) {
  EXPECT_EQ(python_of_script("#!/opt/env/bin/python3.11\nimport x"), Words{"/opt/env/bin/python3.11"});
  EXPECT_EQ(python_of_script("#! /usr/bin/python -u\n"), (Words{"/usr/bin/python", "-u"}));
  EXPECT_EQ(python_of_script("#!/usr/bin/env python3\n"), Words{"python3"});
  EXPECT_EQ(python_of_script("#!/usr/bin/env -S python3 -u\n"), (Words{"python3", "-u"}));
  EXPECT_EQ(python_of_script("#!/bin/sh\n'''exec' /a/python \"$0\" \"$@\"\n' '''\n"), Words{"/a/python"});
  EXPECT_EQ(python_of_script("#!/bin/sh\n'''exec' \"/with/python\" \"$0\" \"$@\"\n"), Words{"/with/python"});
}

TEST(PythonOfScript, IsEmptyForOthers) {
  for (const char* text :
       {"", "#!", "#!\n", "#!/bin/bash\necho", "#!/bin/sh\npython x.py", "import torch", "#!/usr/bin/env\n",
        "\x7f"
        "ELF",
        "#!/usr/bin/perl"})
    EXPECT_TRUE(python_of_script(text).empty()) << text;
}

TEST(ScriptArgument, SkipsTheInterpretersOwnOptions) {
  EXPECT_EQ(script_argument({"x.py", "-c"}), "x.py");
  EXPECT_EQ(script_argument({"-u", "-O", "x.py"}), "x.py");
  EXPECT_EQ(script_argument({"-W", "ignore", "-Xdev", "x.py"}), "x.py");
  EXPECT_EQ(script_argument({"-uW", "ignore", "x.py"}), "x.py");
  EXPECT_EQ(script_argument({"--check-hash-based-pycs", "never", "x.py"}), "x.py");
}

TEST(ScriptArgument, IsAbsentForModulesAndCode) {
  for (const Words& words :
       {Words{}, Words{"-c", "print()"}, Words{"-m", "pkg"}, Words{"-um", "pkg"}, Words{"-"}, Words{"-V"}})
    EXPECT_EQ(script_argument(words), std::nullopt);
}

class FindInterpreter : public testing::Test {
 protected:
  FindInterpreter() {
    program("bin/python3",
            "\x7f"
            "ELF");
    environment_.set("PATH", (folder_ / "bin").string());
  }
  std::string program(const char* name, const char* text) {
    const auto path = folder_.write(name, text);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path.string();
  }
  TemporaryFolder folder_;
  Environment environment_;
};

TEST_F(FindInterpreter, TakesPythonByPath) {
  const auto script = folder_.write("x.py", "");
  const Interpreter found = find_interpreter({"python3", script.string()}, environment_);
  EXPECT_EQ(found.command, Words{(folder_ / "bin/python3").string()});
  EXPECT_EQ(found.script, script);
}

TEST_F(FindInterpreter, FollowsAScriptsFirstLine) {
  program("bin/torchrun", "#!/usr/bin/env python3\n");
  EXPECT_EQ(find_interpreter({"torchrun", "x.py"}, environment_).command, Words{(folder_ / "bin/python3").string()});
}

TEST_F(FindInterpreter, LooksThroughAWrapper) {
  program("bin/nice",
          "\x7f"
          "ELF");
  const std::string other = program("other/python3.12",
                                    "\x7f"
                                    "ELF");
  const auto script = folder_.write("x.py", "");
  const Interpreter found = find_interpreter({"nice", "-n", "5", other, script.string()}, environment_);
  EXPECT_EQ(found.command, Words{other});
  EXPECT_EQ(found.script, script);
  EXPECT_EQ(find_interpreter({"nice", "train"}, environment_).command, Words{(folder_ / "bin/python3").string()});
}

TEST_F(FindInterpreter, NamesWhatIsMissing) {
  EXPECT_EQ(error_of([&] { find_interpreter({"pyhton", "x.py"}, environment_); })->message(),
            "command not found: pyhton");
  EXPECT_EQ(error_of([&] { find_interpreter({}, environment_); })->code(), Errc::usage);
  folder_.write("train.py", "");
  const auto error = error_of([&] { find_interpreter({"python3", (folder_ / "trian.py").string()}, environment_); });
  ASSERT_TRUE(error);
  EXPECT_NE(error->message().find("does not exist"), std::string::npos);
  EXPECT_EQ(error->hint(), "did you mean train.py?");
}

TEST_F(FindInterpreter, TellsHowToRunAScriptThatIsNoProgram) {
  const auto script = folder_.write("train.py", "");
  const auto error = error_of([&] { find_interpreter({script.string()}, environment_); });
  ASSERT_TRUE(error);
  EXPECT_NE(error->hint().find("-- python "), std::string::npos);
}

}  // namespace
}  // namespace tidemark::cli
