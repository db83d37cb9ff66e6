// `dlopen` of the library that is preloaded, from a folder of stand-ins such as elf/stand_ins.h writes.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "elf/elf_stub.h"
#include "support/temporary_folder.h"

namespace tidemark {
namespace {

class Loader : public testing::Test {
 protected:
  Loader() {
    std::filesystem::copy_file(TIDEMARK_GPU_LIBRARY, folder_ / "libtidemark_gpu.so");
    write("libcudart.so.13", "standIn");
    gpu_ = ::dlopen((folder_ / "libtidemark_gpu.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  std::filesystem::path write(const char* name, const char* function) {
    const auto bytes = elf::write_stub_library({elf::this_machine(), name, {}, "", {function}});
    return folder_.write(name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  /// Whether a program that opens `path` finds `function` there.
  bool finds(const std::filesystem::path& path, const char* function) {
    using Open = void*(const char*, int);
    void* found =
        gpu_ ? reinterpret_cast<Open*>(::dlsym(gpu_, "dlopen"))(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
    return found && ::dlsym(found, function);
  }
  TemporaryFolder folder_;
  void* gpu_ = nullptr;
};

TEST_F(Loader, RealRuntimeByPathIsTheStandIn) {
  EXPECT_TRUE(finds(write("nvidia/lib/libcudart.so.13", "real"), "standIn"));
  EXPECT_TRUE(finds(write("vision.libs/libcudart.faf08d9a.so.13", "real"), "standIn"));
}

TEST_F(Loader, OthersAreOpenedAsTheyAre) {
  EXPECT_TRUE(finds(write("other/libcudart_tools.so.13", "tools"), "tools"));
  EXPECT_TRUE(finds(write("nvidia/lib/libnccl.so.2", "nccl"), "nccl"));  // of which there is no stand-in in the folder
  EXPECT_TRUE(finds(folder_ / "libcudart.so.13", "standIn"));
  EXPECT_FALSE(finds(folder_ / "absent/libx.so", "any"));
}

}  // namespace
}  // namespace tidemark
