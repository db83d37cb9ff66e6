// The real libcudnn: what knows which algorithm a convolution takes, and how much scratch memory.
#pragma once
#include <string>

#include "cudnn_abi.h"

namespace tidemark::cudnn {

/// The real library's interface.
struct Real {
  Status (*create)(int type, Descriptor*);
  Status (*destroy)(Descriptor);
  Status (*finalize)(Descriptor);
  Status (*set)(Descriptor, int name, int type, std::int64_t count, const void*);
  Status (*get)(Descriptor, int name, int type, std::int64_t room, std::int64_t* count, void*);
  void (*last_error)(char* message, std::size_t room);
  Status (*make_handle)(void**);
  std::size_t version;
  Descriptor card;  // the card as a descriptor of its own; null in versions that take none
};

/// Loaded at the first use; null where no usable one is found, and then the reason has been said on stderr, once.
const Real* real();

/// The real function of the old ("v7") interface, in the libraries beside that one which have it (libcudnn_ops, _adv,
/// _cnn); null where they are not there.
void* real_function(const char* name);

/// The folder that holds the library to load (`libcudnn_graph.so.9` and what it loads), or empty.  In this order:
/// TIDEMARK_CUDNN_DIR, NVIDIA's package beside the user's torch, Tidemark's cache.
std::string find_folder();

/// The card as the text that CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION takes.
std::string describe_card();

/// The real library's handle behind one that the program was given (cudnn.cpp), made when it is first needed; null
/// where none can be made, and then the reason has been said.
void* real_handle(void* handle);

}  // namespace tidemark::cudnn
