// Whether tensors go together, by what PyTorch itself checks.
#pragma once
#include "base/check.h"

namespace tidemark {

/// PyTorch raises an error here.  A bug, unless what is asked for can give modules other tensors than they take.
class TensorMismatch : public InternalError {
 public:
  using InternalError::InternalError;
};

inline void check_match(bool go_together, const char* message) {
  if (!go_together) throw TensorMismatch(message);
}

}  // namespace tidemark
