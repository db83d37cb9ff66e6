#include "shipped_extensions.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "elf/elf_stub.h"
#include "files.h"
#include "support/temporary_folder.h"
#include "torch_extension.h"

namespace tidemark::cli {
namespace {

using std::filesystem::path;

// A torch with a libc10.so and a revision, sources of one line, and a compiler that writes files with `text` in them.
struct StageSet {
  TemporaryFolder folder;
  TorchInstall torch;
  path sources = folder.path() / "sources/torch_extension", shipped = folder.path() / "shipped";
  Environment environment = Environment::of_this_process();

  explicit StageSet(const std::string& text = "binary") {
    torch.folder = folder.path() / "torch";
    torch.version = "2.11.0+cu130";
    torch.git = "0123456789abcdef";
    std::filesystem::create_directories(torch.lib());
    std::filesystem::create_directories(sources);
    const auto libc10 =
        elf::write_stub_library({elf::this_machine(), "libc10.so", {}, "", {"_ZN3c105ErrorC1ENSt7__cxx11"}});
    folder.write("torch/lib/libc10.so", {reinterpret_cast<const char*>(libc10.data()), libc10.size()});
    folder.write("sources/torch_extension/one/one.cpp", "int one;");
    folder.write("sources/torch_extension/one/without.txt", "less is known\n");
    folder.write("sources/torch_extension/cuda_headers/cuda_runtime_api.h", "");
    const path compiler = folder.write(
        "c++", "#!/bin/sh\nwhile [ $# -gt 0 ]; do [ \"$1\" = -o ] && echo " + text + " > \"$2\"; shift; done\n");
    std::filesystem::permissions(compiler, std::filesystem::perms::owner_all);
    environment.set("CXX", compiler.string());
  }

  path found() const { return shipped_extension(torch, sources, shipped); }
  void ship() { ship_extension(torch, sources, shipped, environment); }
};

TEST(ShippedExtensions, AreFoundByWhatDecidesThem) {
  StageSet stage;
  EXPECT_EQ(stage.found(), path());
  stage.ship();
  EXPECT_TRUE(std::filesystem::exists(stage.found() / "one.so"));
  EXPECT_TRUE(missing_parts(stage.found()).empty());
  stage.torch.version = "2.11.0+cu126";  // another build of the same release
  EXPECT_TRUE(std::filesystem::exists(stage.found() / "one.so"));
  stage.torch.git = "another";
  EXPECT_EQ(stage.found(), path());
  stage.torch.git = "";
  EXPECT_EQ(stage.found(), path());
}

TEST(ShippedExtensions, AreNotFoundForOtherSources) {
  StageSet stage;
  stage.ship();
  stage.folder.write("sources/torch_extension/one/one.cpp", "int two;");
  EXPECT_EQ(stage.found(), path());
}

TEST(ShippedExtensions, ThatAreTheSameShareAFolder) {
  StageSet stage;
  stage.ship();
  const path first = stage.found();
  stage.torch.version = "2.11.1";
  stage.torch.git = "fedcba9876543210";
  stage.ship();
  EXPECT_EQ(stage.found(), first);
}

// tools/trace/record_allocator.py compiles against the same torch.
TEST(ShippedExtensions, HoldTheNamesThatTheyWereCompiledWith) {
  StageSet stage;
  stage.folder.write("torch/include/c10/cuda/CUDAStream.h", "cudaTicket_t ticket;");
  stage.ship();
  EXPECT_NE(read_file(stage.found() / "tidemark_cuda_names.h").find("cudaTicket_t"), std::string::npos);
}

TEST(ShippedExtensions, AreWhole) {
  StageSet stage;
  stage.environment.set("CXX", stage.folder.write("broken", "#!/bin/sh\nexit 1\n").string());
  stage.environment.set("PATH", "");
  EXPECT_THROW(stage.ship(), Error);
  EXPECT_EQ(stage.found(), path());
}

TEST(ShippedExtensions, AreForATorchThatSaysItsRevision) {
  StageSet stage;
  stage.torch.git = "";
  EXPECT_THROW(stage.ship(), Error);
}

}  // namespace
}  // namespace tidemark::cli
