#include "resources.h"

namespace tidemark::cli {

Resources find_resources() {
  std::error_code error;
  const auto executable = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto prefix = executable.parent_path().parent_path();
  const auto share = prefix / "share" / "tidemark";
  if (!error && std::filesystem::is_directory(share, error))
    return {share / "data",
            share / "python",
            share / "torch_extension",
            prefix / "lib/tidemark/extensions",
            prefix / "lib/tidemark/libtidemark_gpu.so",
            share / "validation"};
  const std::filesystem::path source = TIDEMARK_SOURCE_DIR;
  return {source / "data",     source / "python",    source / "virtual_gpu/torch_extension",
          TIDEMARK_EXTENSIONS, TIDEMARK_GPU_LIBRARY, source / "validation"};
}

const char* version_text() { return TIDEMARK_VERSION; }

}  // namespace tidemark::cli
