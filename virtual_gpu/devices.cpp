#include "devices.h"

#include <cstdio>
#include <cstring>

#include "card.h"

namespace tidemark {
namespace {

thread_local int the_current_device = 0;

}  // namespace

int device_count() { return card().devices; }

int current_device() { return the_current_device; }

bool set_current_device(int device) {
  if (device < 0 || device >= device_count()) return false;
  the_current_device = device;
  return true;
}

std::array<unsigned char, 16> device_uuid(int device) {
  std::array<unsigned char, 16> bytes{};
  std::memcpy(bytes.data(), "tidemark-virtual", bytes.size());
  bytes.back() = static_cast<unsigned char>(bytes.back() + device);
  return bytes;
}

std::string device_uuid_text(int device) {
  std::string text = "GPU";
  const auto bytes = device_uuid(device);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    char digits[4];
    const bool begins_a_group = i == 0 || (i >= 4 && i <= 10 && i % 2 == 0);
    std::snprintf(digits, sizeof digits, "%s%02x", begins_a_group ? "-" : "", static_cast<unsigned>(bytes[i]));
    text += digits;
  }
  return text;
}

}  // namespace tidemark
