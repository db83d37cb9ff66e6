// What the stand-ins tell the part that runs inside PyTorch, and what that part tells them.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tidemark {

enum class Role : int { workspace = 1, communication = 2 };

/// A library was given `pointer` as scratch or message memory; the observer files the block that holds it under `role`.
void note_role(const void* pointer, Role role);

/// A count that the device "computed" and that this thread reads back (4 or 8 bytes): writes the promised one, returns
/// true. The innermost promise counts, and only once.
bool take_promised_count(void* destination, std::size_t bytes);

/// The program asked how long something took on the device; every answer is the same, so autotuners take what they try
/// first.
void note_time_asked();

/// Whole numbers came from other ranks, of which it is supposed that they are what this rank sent.
void note_taken_as_equal();

/// Whether this thread is inside an operation on float data alone, whose bytes nobody may depend on.
bool data_is_float();

}  // namespace tidemark

extern "C" {
/// Called by the extension inside PyTorch (dlsym by name; the only private names that this library exports).
__attribute__((visibility("default"))) void tidemark_on_role(void (*callback)(const void* pointer, int role));
__attribute__((visibility("default"))) void tidemark_promise_count(std::int64_t count);
__attribute__((visibility("default"))) void tidemark_withdraw_promise();
__attribute__((visibility("default"))) long tidemark_times_asked();
__attribute__((visibility("default"))) long tidemark_taken_as_equal();
__attribute__((visibility("default"))) void tidemark_data_is_float(bool yes);
__attribute__((visibility("default"))) void tidemark_fill(void* pointer, int value, std::size_t bytes);
__attribute__((visibility("default"))) std::int64_t tidemark_device_peak_bytes(int device);
__attribute__((visibility("default"))) std::int64_t tidemark_pinned_peak_bytes();
__attribute__((visibility("default"))) std::int64_t tidemark_managed_peak_bytes();
}
