// Runs a fuzzer over files instead of generated input: each file as it is, then cut short and with bytes changed, in an
// order that is the same every time.  usage: fuzz_NAME [--variations N] FOLDER_OR_FILE…
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr int kVariations = 400;  // of each file

std::vector<std::uint8_t> read_all(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void run_with_variations(const std::vector<std::uint8_t>& input, int variations) {
  LLVMFuzzerTestOneInput(input.data(), input.size());
  std::mt19937 random(12345);
  for (int i = 0; i < variations && !input.empty(); ++i) {
    std::vector<std::uint8_t> changed = input;
    if (i % 4 == 0) changed.resize(random() % input.size());
    for (unsigned edits = random() % 4; edits > 0 && !changed.empty(); --edits)
      changed[random() % changed.size()] = static_cast<std::uint8_t>(random());
    LLVMFuzzerTestOneInput(changed.data(), changed.size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t files = 0;
  int variations = kVariations;
  const auto run = [&](const std::filesystem::path& path) {
    run_with_variations(read_all(path), variations);
    ++files;
  };
  for (int i = 1; i < argc; ++i) {
    if (i + 1 < argc && std::string_view(argv[i]) == "--variations") {
      variations = std::atoi(argv[++i]);
      continue;
    }
    if (!std::filesystem::is_directory(argv[i])) {
      run(argv[i]);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) run(entry.path());
  }
  std::printf("%zu files\n", files);
  return files > 0 ? 0 : 1;
}
