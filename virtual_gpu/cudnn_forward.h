// Calls of the old interface, passed on to the real library.
#pragma once
#include "cudnn_real.h"

namespace tidemark::cudnn {

/// One line on stderr that names the call, and CUDNN_STATUS_NOT_SUPPORTED, which PyTorch raises.
Status refuse(const char* call, const char* why);

inline constexpr const char* kNeedsLibrary =
    "the scratch memory it takes is known to the real library alone, and libcudnn_ops, libcudnn_adv and libcudnn_cnn are not all there";

template <class... Arguments>
Status forward(const char* call, Arguments... arguments) {
  auto* function = reinterpret_cast<Status (*)(Arguments...)>(real_function(call));
  return function ? function(arguments...) : refuse(call, kNeedsLibrary);
}

/// A call whose first argument is the program's handle, of which the real library knows its own.
template <class... Arguments>
Status forward_with_handle(const char* call, void* handle, Arguments... arguments) {
  auto* function = reinterpret_cast<Status (*)(void*, Arguments...)>(real_function(call));
  if (!function) return refuse(call, kNeedsLibrary);
  void* real = real_handle(handle);
  return real ? function(real, arguments...) : kNotInitialized;
}

}  // namespace tidemark::cudnn
