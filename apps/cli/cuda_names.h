// Declarations of CUDA's names that torch's headers mention and nobody here uses: no name of a newer torch is an error.
#pragma once
#include <string>
#include <vector>

namespace tidemark::cli {

/// C++ text that declares every `cuda…`, `cu…`, `CU…` name in `headers` (texts of header files) that is not in
/// `declared` (a text as well): functions that take anything, types that are made from anything and turn into anything,
/// enumerations with the members that are named, and numbers.  They compile; they are not to be run.
std::string declare_cuda_names(const std::vector<std::string>& headers, const std::string& declared);

}  // namespace tidemark::cli
