// libcudart, streams and events.  Nothing runs; the clock says when it would have (device_clock.h).
#include "cuda_abi.h"
#include "device_clock.h"
#include "handles.h"
#include "notes.h"
#include "watchdogs.h"

using namespace tidemark;
using abi::Status;

namespace {

constexpr unsigned kNonBlocking = 1;  // cudaStreamNonBlocking, CU_STREAM_NON_BLOCKING

Status create_stream(void** stream, unsigned flags) {
  put_handle(stream);
  if (stream && !(flags & kNonBlocking)) device_clock().add_blocking_stream(*stream);
  return 0;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Status cudaStreamCreate(void** stream) { return create_stream(stream, 0); }
Status cudaStreamCreateWithFlags(void** stream, unsigned flags) { return create_stream(stream, flags); }
Status cudaStreamCreateWithPriority(void** stream, unsigned flags, int) { return create_stream(stream, flags); }
Status cudaStreamDestroy(void* stream) {
  device_clock().forget_stream(stream);
  return 0;
}
Status cudaStreamGetPriority(void*, int* priority) {
  *priority = 0;
  return 0;
}
Status cudaStreamQuery(void* stream) { return stream_is_idle(stream) ? abi::kSuccess : abi::kNotReady; }
Status cudaStreamSynchronize(void* stream) {
  device_clock().synchronize_stream(stream);
  tell_stream_call(StreamCall::host_waits_for_stream, stream, nullptr);
  return 0;
}
Status cudaStreamWaitEvent(void* stream, void* event, unsigned) {
  device_clock().wait(stream, event);
  tell_stream_call(StreamCall::stream_waits, stream, event);
  return 0;
}
/// What the host is to do when the stream comes there is done at once.
Status cudaStreamAddCallback(void* stream, void (*callback)(void*, Status, void*), void* data, unsigned) {
  callback(stream, 0, data);
  return 0;
}
Status cudaLaunchHostFunc(void*, void (*function)(void*), void* data) {
  function(data);
  return 0;
}

Status cudaEventCreate(void** event) {
  put_handle(event);
  return 0;
}
Status cudaEventCreateWithFlags(void** event, unsigned) {
  put_handle(event);
  return 0;
}
Status cudaEventDestroy(void* event) {
  event_was_destroyed(event);
  device_clock().forget_event(event);
  return 0;
}
Status cudaEventRecord(void* event, void* stream) {
  device_clock().record(event, stream);
  event_was_recorded(event, stream);
  tell_stream_call(StreamCall::record, stream, event);
  return 0;
}
Status cudaEventRecordWithFlags(void* event, void* stream, unsigned) { return cudaEventRecord(event, stream); }
Status cudaEventQuery(void* event) { return event_has_completed(event) ? abi::kSuccess : abi::kNotReady; }
Status cudaEventSynchronize(void* event) {
  device_clock().synchronize_event(event);
  tell_stream_call(StreamCall::host_waits_for_event, nullptr, event);
  return 0;
}
/// Not the clock's: its times are estimates that decide an order, and an autotuner that compared them would choose
/// other kernels, with other workspaces.  Equal times make it take what it tries first.
Status cudaEventElapsedTime(float* milliseconds, void*, void*) {
  tidemark::note_time_asked();
  *milliseconds = 1.0F;
  return 0;
}
Status cudaEventElapsedTime_v2(float* milliseconds, void*, void*) {
  tidemark::note_time_asked();
  *milliseconds = 1.0F;
  return 0;
}

Status cudaProfilerStart() { return 0; }
Status cudaProfilerStop() { return 0; }

}  // extern "C"
#pragma GCC visibility pop
