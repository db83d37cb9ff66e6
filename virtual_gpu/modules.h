// Modules, libraries and functions of the driver interface: handles behind which the machine code is known, where it is
// given.
#pragma once
#include <optional>

#include "machine_code.h"

namespace tidemark {

/// A module or library of what `data` holds for the card (fat_binary.h).
void* load_module(const void* data);
/// Another handle of the same code: cuLibraryGetModule.
void* module_like(void* module);
void unload_module(void* module);

void* function_of(void* module, const char* name);

struct FunctionFacts {
  std::optional<KernelResources> resources;  // nothing where the code is not known
  int architecture;
  int dynamic_shared_bytes;  // at most; what cuFuncSetAttribute set, or the card's default
};
FunctionFacts function_facts(const void* function);
void set_dynamic_shared_bytes(const void* function, int bytes);

MultiprocessorLimits multiprocessor_limits();

}  // namespace tidemark
