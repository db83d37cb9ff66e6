#include "memory/allocator_rules.h"

#include <fmt/format.h>

#include "base/error.h"

namespace tidemark {

AllocatorRules allocator_rules(std::string_view torch_version) {
  const auto is = [&](std::string_view release) {
    return torch_version == release ||
           (torch_version.substr(0, release.size()) == release && torch_version[release.size()] == '.');
  };
  if (is("2.11"))
    return {
        "2.11", false, false, true,
        "https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf"};
  if (is("2.6"))
    return {"2.6", true, true, false, "https://pytorch.org/docs/stable/notes/cuda.html#environment-variables"};
  throw Error(Errc::unsupported,
              fmt::format("the caching allocator of torch {} has not been compared with ours", torch_version), "torch",
              "2.11 and 2.6 have been");
}

}  // namespace tidemark
