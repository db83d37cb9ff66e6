// Convolutions that no table has: the real cuDNN of the user's torch is asked, on a virtual card.
#pragma once
#include "estimate/spec.h"
#include "memory/card.h"
#include "tensor/run.h"

namespace tidemark::cli {

/// Asks the active Python's cuDNN, which has to be that of the torch of `spec`, and keeps its answers in the user's
/// cache; one process serves until what is returned has gone.  `spec.gpu` or `card` says which card it is.
AskCudnn cudnn_of(const Spec& spec, const Card& card);

}  // namespace tidemark::cli
