// libnccl: one rank of a world whose other members are silent.  Message buffers are noted as communication memory.
//
// Note [Alone]
// Memory depends on no float, but on whole numbers that ranks exchange (sizes, counts, pickled objects).  Where every
// rank contributes to a collective, the others are taken to have contributed what this one did.  Where one rank decides
// (a broadcast, a receive), the numbers are those that it sent when it was run alone itself (nccl_messages.h).
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "card.h"
#include "communicators.h"
#include "cuda_abi.h"
#include "device_clock.h"
#include "device_memory.h"
#include "devices.h"
#include "handles.h"
#include "nccl_messages.h"
#include "notes.h"

using namespace tidemark;
using abi::Status;

namespace {

constexpr std::size_t kWholeNumbersAtMostBytes = std::size_t{16}
                                                 << 20;  // of one message; more is data that nobody counts by
constexpr Status kInvalidArgument = 4;                   // ncclInvalidArgument
constexpr int kNoColor = -1;                             // NCCL_SPLIT_NOCOLOR
enum Reduction : int { kSum = 0, kProduct = 1 };         // ncclRedOp_t; of the others equal values give themselves
enum Type : int {
  kInt8,
  kUint8,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kHalf,
  kFloat,
  kDouble,
  kBfloat16,
  kFloat8e4m3,
  kFloat8e5m2,
  kTypes
};  // ncclDataType_t, nccl.h 2.28

/// ncclComm behind its opaque pointer.
struct Communicator {
  Group group;
  int rank;
  int noted = note_communicator(group);
  int ranks() const { return static_cast<int>(group.ranks.size()); }
  int world_rank_of(int member) const { return group.ranks[static_cast<std::size_t>(member)]; }
  std::string channel(const char* what, int from, int to) const {
    return group.name + "-" + what + std::to_string(from) + (to < 0 ? "" : "to" + std::to_string(to));
  }
};

const Communicator& of(void* comm) { return *static_cast<Communicator*>(comm); }

struct UniqueId {
  char bytes[128];
};
Status make(void** comm, const UniqueId& id, int ranks, int rank) {
  *comm = new Communicator{group_of_id(id.bytes, ranks), rank};
  return 0;
}

std::size_t element_bytes(int type) {
  constexpr std::size_t bytes[kTypes] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return type >= 0 && type < kTypes ? bytes[type] : 1;
}

bool counts(int type, std::size_t bytes) { return type <= kUint64 && bytes <= kWholeNumbersAtMostBytes; }

const void* part(const void* data, int index, std::size_t bytes) {
  return static_cast<const std::byte*>(data) + static_cast<std::size_t>(index) * bytes;
}
void* part(void* data, int index, std::size_t bytes) {
  return static_cast<std::byte*>(data) + static_cast<std::size_t>(index) * bytes;
}

/// Whole numbers of the others, taken to be this rank's own.
void note_equal(const Communicator& comm, int type, std::size_t bytes) {
  if (comm.ranks() > 1 && counts(type, bytes)) note_taken_as_equal();
}

void move(void* to, const void* from, std::size_t bytes, int type) {
  if (to == from) return;
  if (counts(type, bytes))
    std::memmove(to, from, bytes);
  else
    copy(to, from, bytes);
}

template <class Number>
void reduce_equal(void* data, std::size_t count, int reduction, int ranks) {
  auto* numbers = static_cast<Number*>(data);
  for (std::size_t i = 0; i < count; ++i) {
    const Number one = numbers[i];
    if (reduction == kSum) numbers[i] = static_cast<Number>(one * static_cast<Number>(ranks));
    if (reduction == kProduct)
      for (int r = 1; r < ranks; ++r) numbers[i] = static_cast<Number>(numbers[i] * one);
  }
}

/// `receive` becomes what `ranks` times `send` reduce to.
void reduce(const void* send, void* receive, std::size_t count, int type, int reduction, int ranks) {
  move(receive, send, count * element_bytes(type), type);
  if (!counts(type, count * element_bytes(type))) return;
  if (type == kInt8 || type == kUint8)
    reduce_equal<std::uint8_t>(receive, count, reduction, ranks);
  else if (type == kInt32 || type == kUint32)
    reduce_equal<std::uint32_t>(receive, count, reduction, ranks);
  else
    reduce_equal<std::uint64_t>(receive, count, reduction, ranks);
}

/// `count`: elements of the whole message.
void take_time(Collective kind, std::size_t count, int type, void* comm, void* stream) {
  queue_collective(stream, kind, count * element_bytes(type), of(comm).ranks());
}
/// The call that it begins is a collective, which NCCL sends over rings and trees; an exchange of all with all goes
/// from one to one.
void begin_collective(Collective kind, std::size_t count, int type, void* comm, void* stream) {
  note_collective(of(comm).noted);
  take_time(kind, count, type, comm, stream);
}
std::size_t of_all(std::size_t count, void* comm) { return count * static_cast<std::size_t>(of(comm).ranks()); }

void note(const void* send, const void* receive) {
  note_role(send, Role::communication);
  note_role(receive, Role::communication);
}

/// One ncclSend or ncclRecv of a group: they take place together at its end.
struct Transfer {
  const Communicator* comm;
  void* data;
  std::size_t bytes;
  int type, peer;
  bool sends;
};
thread_local std::vector<Transfer> pending;
thread_local int group_depth = 0;

/// An exchange in which a rank sends to itself as well is one of all with all; in others each receives from who has
/// something.
void transfer_pending() {
  const Transfer* to_itself = nullptr;
  for (const Transfer& t : pending)
    if (t.sends && t.peer == t.comm->rank) to_itself = &t;
  for (const Transfer& t : pending) {
    note_role(t.data, Role::communication);
    const int me = t.comm->rank;
    if (to_itself) {
      note_equal(*t.comm, t.type, t.bytes);
      if (!t.sends) move(t.data, to_itself->data, t.bytes < to_itself->bytes ? t.bytes : to_itself->bytes, t.type);
    } else {
      const std::string channel = t.sends ? t.comm->channel("p2p", me, t.peer) : t.comm->channel("p2p", t.peer, me);
      if (!counts(t.type, t.bytes))
        pass_message(channel, t.sends);
      else if (t.sends)
        keep_message(channel, t.data, t.bytes);
      else
        take_message(channel, t.data, t.bytes, t.comm->world_rank_of(t.peer));
    }
  }
  pending.clear();
}

Status transfer(void* data, std::size_t count, int type, int peer, void* comm, bool sends) {
  if (peer < 0 || peer >= of(comm).ranks()) return kInvalidArgument;
  if (peer != of(comm).rank) note_message(of(comm).noted, peer);
  pending.push_back({&of(comm), data, count * element_bytes(type), type, peer, sends});
  if (group_depth == 0) transfer_pending();
  return 0;
}

/// One ncclBroadcast of a group.
struct Broadcast {
  const Communicator* comm;
  const void* send;
  void* receive;
  std::size_t bytes;
  int type, root;
  bool awaited;
};
thread_local std::vector<Broadcast> pending_broadcasts;

void broadcast(const Broadcast& b) {
  const Communicator& comm = *b.comm;
  const bool is_told = counts(b.type, b.bytes) && b.awaited;
  if (b.root == comm.rank) {
    move(b.receive, b.send, b.bytes, b.type);
    if (comm.ranks() > 1 && is_told) keep_message(comm.channel("broadcast", b.root, -1), b.send, b.bytes);
  } else if (is_told) {
    take_message(comm.channel("broadcast", b.root, -1), b.receive, b.bytes, comm.world_rank_of(b.root));
  }
}

/// Where each rank of a group sends in turn, all are gathered: this rank's own part, or none.  torch:
/// ProcessGroupNCCL::allgather (2.15.0); broadcasts that Python asks for, which may bring anything, are awaited.
const Broadcast* own_of_gathered(const Broadcast& b) {
  for (const Broadcast& own : pending_broadcasts)
    if (own.comm == b.comm && own.root == own.comm->rank && own.root != b.root && !b.awaited) return &own;
  return nullptr;
}

void broadcast_pending() {
  for (const Broadcast& b : pending_broadcasts) {
    const Broadcast* own = own_of_gathered(b);
    if (!own) {
      broadcast(b);
      continue;
    }
    note_equal(*b.comm, b.type, b.bytes);
    move(b.receive, own->send, std::min(b.bytes, own->bytes), b.type);
  }
  pending_broadcasts.clear();
}

Status add_broadcast(const void* send, void* receive, std::size_t count, int type, int root, void* comm, void* stream) {
  begin_collective(Collective::broadcast, count, type, comm, stream);
  note(send, receive);
  pending_broadcasts.push_back({&of(comm), send, receive, count * element_bytes(type), type, root, data_is_awaited()});
  if (group_depth == 0) broadcast_pending();
  return 0;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Status ncclGetVersion(int* version) {
  *version = card().nccl_version;
  return 0;
}
Status ncclGetUniqueId(UniqueId* id) {
  static std::uint64_t made = 0;
  std::memset(id, 0, sizeof *id);
  ++made;
  std::memcpy(id, &made, sizeof made);
  return 0;
}
const char* ncclGetErrorString(Status status) {
  return status == 0 ? "no error" : status == kInvalidArgument ? "invalid argument" : "error of the virtual GPU";
}
const char* ncclGetLastError(void*) { return ""; }

Status ncclCommInitRank(void** comm, int ranks, UniqueId id, int rank) { return make(comm, id, ranks, rank); }
Status ncclCommInitRankConfig(void** comm, int ranks, UniqueId id, int rank, void*) {
  return make(comm, id, ranks, rank);
}
Status ncclCommInitRankScalable(void** comm, int ranks, int rank, int, UniqueId* ids, void*) {
  return make(comm, ids[0], ranks, rank);
}
Status ncclCommInitAll(void** comms, int count, const int*) {
  for (int rank = 0; rank < count; ++rank) make(&comms[rank], UniqueId{}, count, rank);
  return 0;
}
Status ncclCommSplit(void* comm, int color, int, void** child, void*) {
  *child = nullptr;
  if (color == kNoColor) return 0;
  Group group = next_split(of(comm).group, color);
  const int me = of(comm).world_rank_of(of(comm).rank);
  int rank = 0;
  while (rank < static_cast<int>(group.ranks.size()) && group.ranks[static_cast<std::size_t>(rank)] != me) ++rank;
  *child = new Communicator{std::move(group), rank};
  return 0;
}
Status ncclCommShrink(void*, int*, int, void**, void*, int) {
  return kInvalidArgument;
}  // nobody fails here, so nobody is left out
Status ncclCommDestroy(void*) { return 0; }  // kept: PyTorch aborts and destroys at exit, from several threads
Status ncclCommAbort(void*) { return 0; }
Status ncclCommFinalize(void*) { return 0; }
Status ncclCommCount(void* comm, int* ranks) {
  *ranks = of(comm).ranks();
  return 0;
}
Status ncclCommUserRank(void* comm, int* rank) {
  *rank = of(comm).rank;
  return 0;
}
Status ncclCommCuDevice(void*, int* device) {
  *device = current_device();
  return 0;
}
Status ncclCommGetAsyncError(void*, int* error) {
  *error = 0;
  return 0;
}
Status ncclCommRegister(void*, void*, std::size_t, void** handle) {
  put_handle(handle);
  return 0;
}
Status ncclCommDeregister(void*, void*) { return 0; }
Status ncclCommWindowRegister(void*, void* buffer, std::size_t, void** window, int) {
  note_role(buffer, Role::communication);
  put_handle(window);
  return 0;
}
Status ncclCommWindowDeregister(void*, void*) { return 0; }
Status ncclRedOpCreatePreMulSum(int* op, void*, int, int, void*) {
  *op = 5;
  return 0;
}  // ncclNumOps: the first that is not built in
Status ncclRedOpDestroy(int, void*) { return 0; }
Status ncclMemAlloc(void** pointer, std::size_t bytes) {
  *pointer = device_memory().allocate(bytes);
  return *pointer ? 0 : 1;
}
Status ncclMemFree(void* pointer) {
  device_memory().free(pointer);
  return 0;
}

Status ncclGroupStart() {
  ++group_depth;
  return 0;
}
Status ncclGroupEnd() {
  if (group_depth > 0 && --group_depth == 0) {
    transfer_pending();
    broadcast_pending();
  }
  return 0;
}
Status ncclGroupSimulateEnd(void*) {
  pending.clear();
  pending_broadcasts.clear();
  group_depth = 0;
  return 0;
}
Status ncclSend(const void* data, std::size_t count, int type, int peer, void* comm, void* stream) {
  take_time(Collective::point_to_point, count, type, comm, stream);
  return transfer(const_cast<void*>(data), count, type, peer, comm, true);
}
Status ncclRecv(void* data, std::size_t count, int type, int peer, void* comm, void* stream) {
  take_time(Collective::point_to_point, count, type, comm, stream);
  return transfer(data, count, type, peer, comm, false);
}

Status ncclAllReduce(const void* send, void* receive, std::size_t count, int type, int reduction, void* comm,
                     void* stream) {
  begin_collective(Collective::all_reduce, count, type, comm, stream);
  note(send, receive);
  note_equal(of(comm), type, count * element_bytes(type));
  reduce(send, receive, count, type, reduction, of(comm).ranks());
  return 0;
}
Status ncclReduce(const void* send, void* receive, std::size_t count, int type, int reduction, int root, void* comm,
                  void* stream) {
  begin_collective(Collective::reduce, count, type, comm, stream);
  note(send, receive);
  if (of(comm).rank == root) reduce(send, receive, count, type, reduction, of(comm).ranks());
  return 0;
}
Status ncclReduceScatter(const void* send, void* receive, std::size_t count, int type, int reduction, void* comm,
                         void* stream) {
  begin_collective(Collective::reduce_scatter, of_all(count, comm), type, comm, stream);
  note(send, receive);
  note_equal(of(comm), type, count * element_bytes(type));
  reduce(part(send, of(comm).rank, count * element_bytes(type)), receive, count, type, reduction, of(comm).ranks());
  return 0;
}
Status ncclBroadcast(const void* send, void* receive, std::size_t count, int type, int root, void* comm, void* stream) {
  return add_broadcast(send, receive, count, type, root, comm, stream);
}
Status ncclBcast(void* data, std::size_t count, int type, int root, void* comm, void* stream) {
  return add_broadcast(data, data, count, type, root, comm, stream);
}
Status ncclAllGather(const void* send, void* receive, std::size_t count, int type, void* comm, void* stream) {
  begin_collective(Collective::all_gather, of_all(count, comm), type, comm, stream);
  const std::size_t bytes = count * element_bytes(type);
  note(send, receive);
  note_equal(of(comm), type, bytes);
  for (int rank = 0; rank < of(comm).ranks(); ++rank) move(part(receive, rank, bytes), send, bytes, type);
  return 0;
}
Status ncclAlltoAll(const void* send, void* receive, std::size_t count, int type, void* comm, void* stream) {
  for (int peer = 0; peer < of(comm).ranks(); ++peer)
    if (peer != of(comm).rank) note_message(of(comm).noted, peer);
  take_time(Collective::all_to_all, of_all(count, comm), type, comm, stream);
  const std::size_t bytes = count * element_bytes(type);
  note(send, receive);
  note_equal(of(comm), type, bytes);
  for (int rank = 0; rank < of(comm).ranks(); ++rank)
    move(part(receive, rank, bytes), part(send, of(comm).rank, bytes), bytes, type);
  return 0;
}

}  // extern "C"
#pragma GCC visibility pop
