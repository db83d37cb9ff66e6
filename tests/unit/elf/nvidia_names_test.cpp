#include "elf/nvidia_names.h"

#include <gtest/gtest.h>

namespace tidemark::elf {
namespace {

TEST(IsNvidiaFunction, KnowsTheLibrariesPrefixes) {
  for (const char* name : {"cudaMalloc",
                           "cublasLtMatmul",
                           "cublasGemmEx",
                           "cudnnCreate",
                           "cufftPlan1d",
                           "curandCreateGenerator",
                           "cusolverDnCreate",
                           "cusparseLtInit",
                           "cuptiActivityEnable",
                           "ncclAllReduce",
                           "nvrtcCompileProgram",
                           "nvmlInit_v2",
                           "nvtxRangePushA",
                           "cuFileRead",
                           "nvshmem_malloc",
                           "nvshmemx_get_uniqueid",
                           "nvshmemid_init_status",
                           "__cudaRegisterFatBinary",
                           "__nvJitLinkCreate_12_4",
                           "nvJitLinkDestroy"})
    EXPECT_TRUE(is_nvidia_function(name)) << name;
}

TEST(IsNvidiaFunction, LeavesTheDriverAndOthersAlone) {
  for (const char* name : {"cuInit", "cuMemCreate", "cuLaunchKernel", "malloc", "_ZN4cuda6mallocEv", "cuda",
                           "cudamalloc", "curl_easy_init", "cupola", "nvlist", "cubeMap", "", "ncclx"})
    EXPECT_FALSE(is_nvidia_function(name)) << name;
}

TEST(IsNvidiaLibrary, KnowsItByAnyVersion) {
  for (const char* name : {"libcudart.so.13", "libcudart.so.12", "libcudart.so", "libcublasLt.so.13", "libcudnn.so.9",
                           "libcudnn_graph.so.9", "libnccl.so.2", "libnvshmem_host.so.3", "libcuda.so.1",
                           "libnvidia-ml.so.1", "libcufile.so.0", "libnvToolsExt.so.1"})
    EXPECT_TRUE(is_nvidia_library(name)) << name;
  for (const char* name : {"libc.so.6", "libtorch_cuda.so", "libc10_cuda.so", "libcudart", "libcurl.so.4",
                           "libcudart.sox", "libcudartx.so.1"})
    EXPECT_FALSE(is_nvidia_library(name)) << name;
}

TEST(NameBeforeVendoring, DropsTheHashOfAWheelsCopy) {
  EXPECT_EQ(name_before_vendoring("libcudart.faf08d9a.so.13"), "libcudart.so.13");
  EXPECT_EQ(name_before_vendoring("libnccl-0a1b2c3d.so.2.27"), "libnccl.so.2.27");
  for (const char* name : {"libcudart.so.13", "libcublas", "libtorch_cuda.so", "12345678.so", "libx.notahash.so"})
    EXPECT_EQ(name_before_vendoring(name), name);
}

}  // namespace
}  // namespace tidemark::elf
