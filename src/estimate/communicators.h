// The communicators of NCCL that a rank makes in the training that a spec stands for.
#pragma once
#include <vector>

#include "estimate/spec.h"
#include "memory/device_memory.h"

namespace tidemark {

/// In no particular order, without those of one rank that nothing is sent over.
std::vector<Communicator> communicators_of(const Spec& spec);

}  // namespace tidemark
