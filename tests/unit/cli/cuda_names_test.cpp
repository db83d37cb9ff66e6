#include "cuda_names.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <sstream>

#include "support/temporary_folder.h"

namespace tidemark::cli {
namespace {

// What a torch newer than any that is known may write, as today's write it (c10/cuda/CUDAStream.h,
// CUDAGraphsC10Utils.h).
constexpr const char* kNewerHeader = R"(
#include <cuda_runtime_api.h>
#include <vector>
namespace c10::cuda {
// In a comment cudaInAComment(1) counts for nothing, nor does "cudaInAString" in a text.
struct Guard {
  explicit Guard(cudaTicket_t ticket, cudaFancyProps* props = nullptr) : ticket_(ticket), props_(props) {}
  ~Guard() { cudaTicketRelease(ticket_, cudaTicketNow | cudaTicketQuiet); }
  cudaTicket_t ticket_;
  cudaFancyProps* props_;
};
enum class Status : int { None = int(cudaTicketStatus::cudaTicketStatusNone), Done = int(cudaTicketStatus::cudaTicketStatusDone) };
static_assert(int(cudaTicketStatus::cudaTicketStatusNone) != int(cudaTicketStatus::cudaTicketStatusDone), "cudaInAString");
inline int ask(cudaStream_t stream) {
  cudaTicket_t ticket{};
  CUmemNewHandle handle{};
  cudaTicketStatus status{cudaTicketStatusNone};
  const cudaError_t error = cudaTicketQuery(stream, &ticket, nullptr, &status, &handle);
  if (error != cudaSuccess || ticket == nullptr) return static_cast<int>(cuTicketForget(ticket));
  switch (cudaTicketQuery(stream)) {
    case cudaTicketNow: return CU_TICKET_FLAG;
    case cudaTicketQuiet: return 2;
  }
  std::vector<cudaTicket_t> tickets{ticket};
  return static_cast<int>(tickets.size());
}
}
int main() { return 0; }
)";

std::string text_of(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(DeclareCudaNames, MakesANewerHeaderCompile) {
  const std::filesystem::path declared = std::filesystem::path(TIDEMARK_CUDA_HEADERS);
  const TemporaryFolder folder;
  const auto newer = folder.write("newer.cpp", kNewerHeader);
  folder.write("tidemark_cuda_names.h", declare_cuda_names({kNewerHeader}, text_of(declared / "cuda_runtime_api.h")));
  const std::string command = std::string(TIDEMARK_CXX) + " -std=c++20 -w -isystem " + declared.string();
  const std::string with_names = " -isystem " + folder.path().string() + " -o " + (folder / "program").string() + " ";
  EXPECT_EQ(::system((command + with_names + newer.string()).c_str()), 0);
  EXPECT_NE(::system((command + " -fsyntax-only " + newer.string() + " 2>/dev/null").c_str()), 0);
}

TEST(DeclareCudaNames, LeavesWhatIsDeclaredAlone) {
  const std::string text = declare_cuda_names({"cudaOne(cudaTwo_t x); // cudaThree\n#define cudaFour 1\ncudaFive"},
                                              "int cudaOne(cudaTwo_t);");
  for (const char* name : {"cudaOne", "cudaTwo_t", "cudaThree", "cudaFour"})
    EXPECT_EQ(text.find(name), std::string::npos) << name;
  EXPECT_NE(text.find("int cudaFive = "), std::string::npos);
}

}  // namespace
}  // namespace tidemark::cli
