// The communicators that this process has made, and what NCCL would take of the device for them: at their making, at
// their first collective, at the first message to each peer.  The figures are the launcher's
// (src/memory/device_memory.h); without them nothing is taken.
#pragma once
#include "nccl_messages.h"

namespace tidemark {

/// Of the current device.  The result names the communicator below.
int note_communicator(const Group& group);
void note_collective(int communicator);
void note_message(int communicator, int peer);

}  // namespace tidemark

extern "C" {  // for python/tidemark/inside/report.py (ctypes)
/// A line for each: name, ranks with commas, whether it had a collective, number of peers, between tabs.
__attribute__((visibility("default"))) const char* tidemark_communicators();
}
