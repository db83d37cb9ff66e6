// The functions that python/tidemark calls through ctypes.
#include "assumptions.h"
#include "decided_data.h"
#include "host_memory.h"
#include "observer.h"
#include "true_data.h"

using namespace tidemark;

extern "C" {

void tidemark_keep_integers_true(bool yes) { keep_integers_true(yes); }
void tidemark_start_observing(int device) { start_observing(device); }
void tidemark_start_counting_host_memory() { start_counting_host_memory(); }
std::int64_t tidemark_host_memory_peak_bytes() { return host_memory_peak_bytes(); }
void tidemark_set_routing(double skew) { set_routing({skew}); }
const char* tidemark_assumptions() {
  static thread_local std::string text;
  text = assumptions_text();
  return text.c_str();
}

}  // extern "C"
