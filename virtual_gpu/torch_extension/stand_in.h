// The private door of libtidemark_gpu.so (virtual_gpu/notes.h, device_clock.h, host_pages.h), declared again for code
// that is compiled against the user's PyTorch.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tidemark {
constexpr std::size_t kLargeHostBytes = std::size_t{1}
                                        << 20;  // host tensors from here on have pages of their own (host_memory), of
                                                // which `integers` knows what was written
}

extern "C" {
void tidemark_on_role(void (*callback)(const void* pointer, int role));
void tidemark_promise_count(std::int64_t count);
void tidemark_withdraw_promise();
long tidemark_times_asked();
long tidemark_taken_as_equal();
void tidemark_data_is_float(bool yes);
void tidemark_fill(void* pointer, int value, std::size_t bytes);
void tidemark_on_stream_call(void (*callback)(int call, const void* stream, const void* event, std::uint64_t work));
void tidemark_operation_begins(std::int64_t before[3]);
void tidemark_operation_ends(const std::int64_t before[3], double bytes, double flops, int precision);
void* tidemark_take_host_pages(std::size_t bytes);
bool tidemark_give_back_host_pages(void* start);
bool tidemark_owns_host_pages(const void* pointer, std::size_t bytes);
void tidemark_mark_unknown(const void* pointer, std::size_t bytes);
void tidemark_mark_known(const void* pointer, std::size_t bytes);
bool tidemark_is_unknown(const void* pointer, std::size_t bytes);
void tidemark_visit_written(const void* pointer, std::size_t bytes,
                            void (*visit)(void* context, std::size_t first, std::size_t last), void* context);
bool tidemark_none_is_given(const void* pointer, std::size_t bytes);
}
