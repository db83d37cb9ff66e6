// libcudart, streams and events.  Work is done the moment it is queued: every event has completed.
#include <ctime>

#include "cuda_abi.h"
#include "handles.h"
#include "notes.h"

using namespace tidemark;
using abi::Status;

#pragma GCC visibility push(default)
extern "C" {

Status cudaStreamCreate(void** stream) { put_handle(stream); return 0; }
Status cudaStreamCreateWithFlags(void** stream, unsigned) { put_handle(stream); return 0; }
Status cudaStreamCreateWithPriority(void** stream, unsigned, int) { put_handle(stream); return 0; }
Status cudaStreamDestroy(void*) { return 0; }
Status cudaStreamGetPriority(void*, int* priority) { *priority = 0; return 0; }
Status cudaStreamQuery(void*) { return 0; }
Status cudaStreamSynchronize(void*) { return 0; }
Status cudaStreamWaitEvent(void*, void*, unsigned) { return 0; }
Status cudaStreamAddCallback(void* stream, void (*callback)(void*, Status, void*), void* data, unsigned) { callback(stream, 0, data); return 0; }
Status cudaLaunchHostFunc(void*, void (*function)(void*), void* data) { function(data); return 0; }

Status cudaEventCreate(void** event) { put_handle(event); return 0; }
Status cudaEventCreateWithFlags(void** event, unsigned) { put_handle(event); return 0; }
Status cudaEventDestroy(void*) { return 0; }
Status cudaEventRecord(void*, void*) { return 0; }
Status cudaEventRecordWithFlags(void*, void*, unsigned) { return 0; }
Status cudaEventQuery(void*) { return 0; }
Status cudaEventSynchronize(void*) { return 0; }
Status cudaEventElapsedTime(float* milliseconds, void*, void*) { tidemark::note_time_asked(); *milliseconds = 1.0F; return 0; }
Status cudaEventElapsedTime_v2(float* milliseconds, void*, void*) { tidemark::note_time_asked(); *milliseconds = 1.0F; return 0; }

Status cudaProfilerStart() { return 0; }
Status cudaProfilerStop() { return 0; }

}  // extern "C"
#pragma GCC visibility pop
