#include "torch_probe.h"

#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "support/throws.h"

namespace tidemark::cli {
namespace {

class TorchFromProbe : public testing::Test {
 protected:
  TorchFromProbe() { folder_.write("torch/lib/libtorch_cuda.so", ""); }
  std::string output(const std::string& version, const std::string& cuda, const std::string& hip = "") const {
    return "executable=/env/bin/python\npython=3.11.2\nimplementation=cpython\nfolder=" + (folder_ / "torch").string() +
           "\n__version__=" + version + "\ncuda=" + cuda + "\nhip=" + hip + "\ngit_version=abc\n";
  }
  std::string refusal(const std::string& text) const {
    const auto error = error_of([&] { torch_from_probe(text, "python"); });
    EXPECT_TRUE(error && error->code() == Errc::unsupported);
    return error ? error->message() : "";
  }
  TemporaryFolder folder_;
};

TEST_F(TorchFromProbe, TakesACudaBuild) {
  const TorchInstall torch = torch_from_probe(output("2.11.0+cu130", "13.0"), "python");
  EXPECT_EQ(torch.version, "2.11.0+cu130");
  EXPECT_EQ(torch.short_version(), "2.11.0");
  EXPECT_EQ(torch.cuda, "13.0");
  EXPECT_EQ(torch.python, "/env/bin/python");
}

TEST_F(TorchFromProbe, ReadsTheLibrariesThatItPins) {
  const TorchInstall torch =
      torch_from_probe(output("2.11.0+cu130", "13.0") + "cudnn=9.19.0.56\nnccl=2.28.9\n", "python");
  EXPECT_EQ(torch.cudnn_version, 91900);
  EXPECT_EQ(torch.nccl_version, 22809);
  EXPECT_EQ(torch_from_probe(output("2.11.0+cu130", "13.0"), "python").cudnn_version, 0);
}

TEST_F(TorchFromProbe, TakesWhatIsNewerThanAnythingKnown) {
  EXPECT_EQ(torch_from_probe(output("2.16.0.dev20270101+cu132", "13.2"), "python").short_version(),
            "2.16.0.dev20270101");
  EXPECT_EQ(torch_from_probe(output("3.0.0a0+gitabc", "14.0"), "python").version, "3.0.0a0+gitabc");
}

TEST_F(TorchFromProbe, SaysThatThereAreTwo) {
  const std::string site = folder_.path().string(), one = output("2.11.0+cu130", "13.0");
  EXPECT_EQ(torch_from_probe(one + "installed0=2.11.0+cu130 in " + site + "\n", "python").others, "");
  EXPECT_EQ(torch_from_probe(one + "installed0=2.11.0 in /elsewhere\n", "python").others, "");
  EXPECT_EQ(
      torch_from_probe(one + "installed0=2.11.0+cu130 in " + site + "\ninstalled1=2.6.0 in /b\n", "python").others,
      "torch 2.11.0+cu130 in " + site + " is what Python imports; torch 2.6.0 in /b is installed as well");
}

TEST_F(TorchFromProbe, RefusesByName) {
  EXPECT_EQ(refusal("implementation=cpython\n"), "no torch in python");
  EXPECT_EQ(refusal("implementation=pypy\n"), "python is not CPython");
  EXPECT_EQ(refusal(output("2.5.1+cu124", "12.4")), "torch 2.5.1+cu124 is too old");
  EXPECT_EQ(refusal(output("1.13.0", "11.7")), "torch 1.13.0 is too old");
  EXPECT_EQ(refusal(output("2.11.0+cpu", "")), "torch 2.11.0+cpu is built without CUDA");
  EXPECT_EQ(refusal(output("2.11.0+rocm6.4", "", "6.4")), "torch 2.11.0+rocm6.4 is built for ROCm, not for CUDA");
  EXPECT_EQ(refusal(output("", "")), "this torch does not say its version");
  EXPECT_EQ(refusal(output("garbage", "12.4")), "torch garbage is too old");
}

TEST_F(TorchFromProbe, WantsTheLibraryAndNotOnlyTheClaim) {
  std::filesystem::remove(folder_ / "torch/lib/libtorch_cuda.so");
  EXPECT_EQ(refusal(output("2.11.0", "13.0")), "torch 2.11.0 is built without CUDA");
}

TEST(RequireMachine, NamesTheMachine) {
  EXPECT_NO_THROW(require_machine("Linux", "x86_64"));
  EXPECT_NO_THROW(require_machine("Linux", "aarch64"));
  EXPECT_EQ(error_of([] { require_machine("Darwin", "arm64"); })->message(),
            "Tidemark needs Linux on x86-64 or aarch64, this is Darwin on arm64");
}

}  // namespace
}  // namespace tidemark::cli
