#include "elf/stand_ins.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "elf/elf_stub.h"
#include "support/temporary_folder.h"
#include "support/throws.h"

namespace tidemark::elf {
namespace {

using Names = std::set<std::string>;
using Packages = std::vector<Package<std::filesystem::path>>;

ElfFile file_with(std::vector<std::string_view> needed, std::vector<DynamicSymbol> symbols) {
  ElfFile file;
  file.needed = std::move(needed);
  file.symbols = std::move(symbols);
  return file;
}

TEST(PlanStandIns, StubsOnlyWhatNobodyDefines) {
  const std::vector<Package<ElfFile>> users{
      {file_with({"libcublas.so.13", "libc.so.6"}, {{"cublasCreate_v2", false},
                                                    {"cudaMalloc", false},
                                                    {"cuInit", false},
                                                    {"malloc", false},
                                                    {"cudaInTorch", false}}),
       file_with({"libcudart.so.13"}, {{"cudaInTorch", true}, {"ncclSend", false}})}};
  const ElfFile gpu = file_with({}, {{"cudaMalloc", true}, {"ncclSend", false}});
  const StandIns plan = plan_stand_ins(users, gpu);
  EXPECT_EQ(plan.functions, (Names{"cublasCreate_v2", "ncclSend"}));
  EXPECT_EQ(plan.libraries, (Names{"libcublas.so.13", "libcudart.so.13", "libcuda.so", "libcuda.so.1",
                                   "libnvidia-ml.so", "libnvidia-ml.so.1"}));
}

TEST(PlanStandIns, DefinitionCountsInItsPackageAlone) {
  const ElfFile stub = file_with({}, {{"cudaMemset2DAsync", true}});
  const ElfFile user = file_with({}, {{"cudaMemset2DAsync", false}});
  const ElfFile gpu = file_with({}, {});
  EXPECT_EQ(plan_stand_ins(std::vector<Package<ElfFile>>{{}, {stub, user}}, gpu).functions, Names{});
  EXPECT_EQ(plan_stand_ins(std::vector<Package<ElfFile>>{{}, {stub}, {user}}, gpu).functions,
            Names{"cudaMemset2DAsync"});
  EXPECT_EQ(plan_stand_ins(std::vector<Package<ElfFile>>{{stub}, {user}}, gpu).functions, Names{});
}

class WriteStandIns : public testing::Test {
 protected:
  std::filesystem::path write(const char* name, const StubLibrary& library) {
    const auto bytes = write_stub_library(library);
    return folder_.write(name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  TemporaryFolder folder_;
};

TEST_F(WriteStandIns, WritesAFolderThatLoads) {
  const auto gpu = write("gpu/libtidemark_gpu.so", {this_machine(), "libtidemark_gpu.so", {}, "", {"cudaStandInTest"}});
  const auto user = write("torch/libtorch_cuda.so", {this_machine(), "libtorch_cuda.so", {"libcudart.so.13"}, "", {}});
  const auto out = folder_ / "out";
  std::filesystem::create_directory(out);
  const StandIns written = write_stand_ins(Packages{{user}}, gpu, out);
  EXPECT_TRUE(written.libraries.contains("libcudart.so.13"));
  // In a separate namespace: gpu_library/ may have loaded the real library of that name in this process.
  void* handle = ::dlmopen(LM_ID_NEWLM, (out / "libcudart.so.13").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << ::dlerror();
  EXPECT_NE(::dlsym(handle, "cudaStandInTest"), nullptr);
  ::dlclose(handle);
}

TEST_F(WriteStandIns, OneNameLeadsToTorchsLibraries) {
  for (const char* name : {"libc10.so", "libtorch_cpu.so", "libc10_cuda.so", "libtorch_cuda.so"})
    write((std::string("torch/lib/") + name).c_str(), {this_machine(), name, {}, "", {"in_" + std::string(name, 6)}});
  write_torch_libraries(folder_ / "torch/lib", folder_.path());
  void* handle = ::dlopen((folder_ / kTorchLibrary).c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << ::dlerror();
  for (const char* function : {"in_libc10", "in_libtor"}) EXPECT_NE(::dlsym(handle, function), nullptr) << function;
  ::dlclose(handle);
}

TEST_F(WriteStandIns, OnlyTorchItselfMustBeReadable) {
  const auto gpu = write("libtidemark_gpu.so", {this_machine(), "libtidemark_gpu.so", {}, "", {}});
  const auto other = folder_.write("bitsandbytes/libother.so", "INPUT(libother.so.1)");
  const auto out = folder_ / "out";
  std::filesystem::create_directory(out);
  EXPECT_NO_THROW(write_stand_ins(Packages{{}, {other}}, gpu, out));
  const auto torch = folder_.write("torch/libtorch_cuda.so", "broken");
  const auto error = error_of([&] { write_stand_ins(Packages{{torch}}, gpu, out); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->where(), torch.string());
}

TEST_F(WriteStandIns, FindsSharedLibrariesByName) {
  for (const char* name : {"lib/b.so", "lib/a.so.1", "lib/c.py", "lib/d.sox", "lib/deep/e.so"}) folder_.write(name, "");
  const auto found = shared_libraries(folder_ / "lib");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].filename(), "a.so.1");
  EXPECT_TRUE(shared_libraries(folder_ / "nowhere").empty());
}

TEST_F(WriteStandIns, LibrariesOfEveryPackageAreFound) {
  for (const char* name :
       {"torch/lib/libtorch.so", "torch/_C.so", "flash_attn_2_cuda.so", "vllm/deep/_C.so", "vllm/libcudart.so.13",
        "vision.libs/libcudart.faf08d9a.so.13", "nvidia/lib/libother.so", "tri/nvidia/lib/libcupti.so", "pure/a.py"})
    folder_.write(name, "");
  const auto found = libraries_of_environment(folder_ / "torch/lib", folder_.path());
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0], (Package<std::filesystem::path>{folder_ / "torch/lib/libtorch.so"}));
  EXPECT_EQ(found[1], (Package<std::filesystem::path>{folder_ / "flash_attn_2_cuda.so"}));
  EXPECT_EQ(found[2], (Package<std::filesystem::path>{folder_ / "vllm/deep/_C.so"}));
}

}  // namespace
}  // namespace tidemark::elf
