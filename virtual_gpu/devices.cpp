#include "devices.h"

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

}  // namespace tidemark
