// libnccl: a world whose other members are silent.  Message buffers are noted as communication memory.
#include <cstdint>
#include <cstring>

#include "card.h"
#include "cuda_abi.h"
#include "device_clock.h"
#include "device_memory.h"
#include "handles.h"
#include "notes.h"

using namespace tidemark;
using abi::Status;

namespace {

/// ncclComm behind its opaque pointer: what ncclCommCount and ncclCommUserRank answer.
struct Communicator { int ranks, rank; };

std::size_t element_bytes(int dtype) {
  // ncclDataType_t, nccl.h 2.28: int8 uint8 int32 uint32 int64 uint64 half float double bfloat16 float8e4m3 float8e5m2
  constexpr std::size_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return dtype >= 0 && dtype < 12 ? bytes[dtype] : 1;
}

int ranks_of(const void* comm) { return static_cast<const Communicator*>(comm)->ranks; }

Status collective(const void* send, void* receive, std::size_t bytes) {
  note_role(send, Role::communication);
  note_role(receive, Role::communication);
  if (send != receive) copy(receive, send, bytes);
  return 0;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Status ncclGetVersion(int* version) { *version = card().nccl_version; return 0; }
Status ncclGetUniqueId(void* id) { std::memset(id, 7, 128); return 0; }
const char* ncclGetErrorString(Status) { return "no error"; }
const char* ncclGetLastError(void*) { return ""; }
Status ncclCommInitRank(void** comm, int ranks, ...) {
  *comm = new Communicator{ranks, 0};
  return 0;
}
struct UniqueId { char bytes[128]; };
Status ncclCommInitRankConfig(void** comm, int ranks, UniqueId, int rank, void*) { *comm = new Communicator{ranks, rank}; return 0; }
Status ncclCommInitRankScalable(void** comm, int ranks, int rank, int, UniqueId*, void*) { *comm = new Communicator{ranks, rank}; return 0; }
Status ncclCommInitAll(void** comms, int count, const int*) {
  for (int rank = 0; rank < count; ++rank) comms[rank] = new Communicator{count, rank};
  return 0;
}
Status ncclCommSplit(void* comm, int, int, void** child, void*) { *child = new Communicator(*static_cast<Communicator*>(comm)); return 0; }
Status ncclCommCount(void* comm, int* ranks) { *ranks = static_cast<Communicator*>(comm)->ranks; return 0; }
Status ncclCommUserRank(void* comm, int* rank) { *rank = static_cast<Communicator*>(comm)->rank; return 0; }
Status ncclCommGetAsyncError(void*, int* error) { *error = 0; return 0; }
Status ncclCommRegister(void*, void*, std::size_t, void** handle) { put_handle(handle); return 0; }
Status ncclRedOpCreatePreMulSum(int* op, void*, int, int, void*) { *op = 0; return 0; }
Status ncclMemAlloc(void** pointer, std::size_t bytes) { *pointer = device_memory().allocate(bytes); return *pointer ? 0 : 1; }
Status ncclMemFree(void* pointer) { device_memory().free(pointer); return 0; }

Status ncclAllReduce(const void* send, void* receive, std::size_t count, int dtype, int, void* comm, void* stream) {
  queue_collective(stream, Collective::all_reduce, count * element_bytes(dtype), ranks_of(comm));
  return collective(send, receive, count * element_bytes(dtype));
}
Status ncclBroadcast(const void* send, void* receive, std::size_t count, int dtype, int, void* comm, void* stream) {
  queue_collective(stream, Collective::broadcast, count * element_bytes(dtype), ranks_of(comm));
  return collective(send, receive, count * element_bytes(dtype));
}
Status ncclReduce(const void* send, void* receive, std::size_t count, int dtype, int, int, void* comm, void* stream) {
  queue_collective(stream, Collective::reduce, count * element_bytes(dtype), ranks_of(comm));
  return collective(send, receive, count * element_bytes(dtype));
}
Status ncclReduceScatter(const void* send, void* receive, std::size_t count, int dtype, int, void* comm, void* stream) {
  queue_collective(stream, Collective::reduce_scatter, count * element_bytes(dtype) * static_cast<std::size_t>(ranks_of(comm)), ranks_of(comm));
  return collective(send, receive, count * element_bytes(dtype));
}
/// Every rank's part is this rank's, so that consistency checks between ranks pass.
Status ncclAllGather(const void* send, void* receive, std::size_t count, int dtype, void* comm, void* stream) {
  const std::size_t bytes = count * element_bytes(dtype);
  queue_collective(stream, Collective::all_gather, bytes * static_cast<std::size_t>(ranks_of(comm)), ranks_of(comm));
  for (int rank = 0; rank < static_cast<Communicator*>(comm)->ranks; ++rank) collective(send, static_cast<char*>(receive) + static_cast<std::size_t>(rank) * bytes, bytes);
  return 0;
}
Status ncclSend(const void* send, std::size_t count, int dtype, int, void* comm, void* stream) {
  queue_collective(stream, Collective::point_to_point, count * element_bytes(dtype), ranks_of(comm));
  note_role(send, Role::communication);
  return 0;
}
Status ncclRecv(void* receive, std::size_t count, int dtype, int, void* comm, void* stream) {
  queue_collective(stream, Collective::point_to_point, count * element_bytes(dtype), ranks_of(comm));
  note_role(receive, Role::communication);
  return 0;
}

}  // extern "C"
#pragma GCC visibility pop
