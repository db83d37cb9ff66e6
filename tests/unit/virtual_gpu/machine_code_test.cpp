#include "machine_code.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace tidemark {
namespace {

// An RTX 3060's.
constexpr MultiprocessorLimits kLimits{65'536, 65'536, 102'400, 1'024, 1'536, 16};

/// A cubin with one kernel "k": 127 registers, 12,288 bytes of shared memory, a launch bound of 256 threads.
class SmallCubin {
 public:
  SmallCubin() {
    names_ = std::string(1, '\0');
    add("", 0, "", 0);
    add(".strtab", 3, std::string("\0k\0", 3), 0);
    const std::uint32_t symbol[12] = {0, 0, 0, 0, 0, 0, 1};  // two symbols of 24 bytes; the second's name is at 1
    add(".symtab", 2, std::string(reinterpret_cast<const char*>(symbol), 48), 1);
    add(".nv.info", 0x70000000, record(0x2f, {1, 127}) + record(0x11, {1, 8}), 2);
    add(".nv.info.k", 0x70000000, std::string("\x01\x04\0\0", 4) + record(0x05, {256, 1, 1}), 2);
    add(".text.k", 1, std::string(16, '\0'), 0);
    add(".nv.shared.k", 8, "", 0, 12'288);
    add(".shstrtab", 3, "", 0);
  }
  std::vector<std::byte> bytes() {
    sections_.back().offset = 64 + body_.size();
    body_ += names_;
    std::string file(64, '\0');
    put<std::uint64_t>(file, 40, 64 + body_.size());
    put<std::uint16_t>(file, 58, 64);
    put<std::uint16_t>(file, 60, static_cast<std::uint16_t>(sections_.size()));
    put<std::uint16_t>(file, 62, static_cast<std::uint16_t>(sections_.size() - 1));
    file += body_;
    for (const Section& s : sections_) {
      std::string header(64, '\0');
      put<std::uint32_t>(header, 0, s.name);
      put<std::uint64_t>(header, 24, s.offset);
      put<std::uint64_t>(header, 32, s.bytes);
      put<std::uint32_t>(header, 40, s.link);
      file += header;
    }
    const auto* start = reinterpret_cast<const std::byte*>(file.data());
    return {start, start + file.size()};
  }

 private:
  struct Section {
    std::uint32_t name;
    std::uint64_t offset, bytes;
    std::uint32_t link;
  };
  template <class T>
  static void put(std::string& text, std::size_t at, T value) {
    std::memcpy(text.data() + at, &value, sizeof value);
  }
  static std::string record(char attribute, std::vector<std::uint32_t> words) {
    std::string text{'\x04', attribute, static_cast<char>(words.size() * 4), '\0'};
    text.append(reinterpret_cast<const char*>(words.data()), words.size() * 4);
    return text;
  }
  void add(const std::string& name, std::uint32_t, const std::string& contents, std::uint32_t link,
           std::uint64_t bytes = 0) {
    sections_.push_back(
        {static_cast<std::uint32_t>(names_.size()), 64 + body_.size(), bytes ? bytes : contents.size(), link});
    names_ += name + '\0';
    body_ += contents;
  }
  std::string body_, names_;
  std::vector<Section> sections_;
};

TEST(MachineCode, SaysWhatAKernelNeeds) {
  const auto cubin = SmallCubin().bytes();
  const auto kernel = kernel_resources(cubin, "k");
  ASSERT_TRUE(kernel.has_value());
  EXPECT_EQ(kernel->registers, 127);
  EXPECT_EQ(kernel->static_shared_bytes, 12'288);
  EXPECT_EQ(kernel->local_bytes, 8);
  EXPECT_EQ(kernel->launch_bound, 256);
  EXPECT_FALSE(kernel_resources(cubin, "other").has_value());
}

TEST(MachineCode, DamageIsNoCrash) {
  auto cubin = SmallCubin().bytes();
  for (std::size_t kept = 0; kept < cubin.size(); kept += 7) kernel_resources({cubin.data(), kept}, "k");
  EXPECT_FALSE(kernel_resources({cubin.data(), 60}, "k").has_value());
}

TEST(MachineCode, RegistersLimitThreadsAndBlocks) {
  // 127 registers round to 128, 4,096 a warp: 16 warps.
  EXPECT_EQ(most_threads_per_block({127, 0, 0, 0}, kLimits), 512);
  EXPECT_EQ(most_threads_per_block({127, 0, 0, 256}, kLimits), 256);
  EXPECT_EQ(most_threads_per_block({32, 0, 0, 0}, kLimits), 1024);
  EXPECT_EQ(resident_blocks({127, 0, 0, 0}, kLimits, 256, 0), 2);
  EXPECT_EQ(resident_blocks({127, 0, 0, 0}, kLimits, 1024, 0), 0);
  EXPECT_EQ(resident_blocks({32, 0, 0, 0}, kLimits, 256, 0), 6);  // threads: 1,536 of 256
  EXPECT_EQ(resident_blocks({32, 0, 0, 0}, kLimits, 32, 0), 16);  // blocks
}

TEST(MachineCode, SharedMemoryLimitsBlocks) {
  EXPECT_EQ(resident_blocks({32, 12'288, 0, 0}, kLimits, 256, 0), 6);
  EXPECT_EQ(resident_blocks({32, 12'288, 0, 0}, kLimits, 128, 12'288),
            4);  // 25,600 bytes each, the reserved kilobyte among them
  EXPECT_EQ(dynamic_shared_bytes_left({32, 12'288, 0, 0}, kLimits, 4), 12'288);
}

}  // namespace
}  // namespace tidemark
