// The cards of one node, by number.  They are all alike; each has memory of its own (device_memory.h).
#pragma once
#include <array>
#include <string>

namespace tidemark {

/// How many there are: `devices` in the card's file, 1 without it.
int device_count();
/// The device that this thread works on; a new thread begins on 0, as in CUDA.
int current_device();
/// False, and no change, if there is no such device.
bool set_current_device(int device);
/// The bytes by which CUDA names the device, and the same as NVML writes it ("GPU-74696465-…").
std::array<unsigned char, 16> device_uuid(int device);
std::string device_uuid_text(int device);

}  // namespace tidemark
