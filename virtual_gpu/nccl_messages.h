// What other ranks sent.  Ranks run one after another, each alone: a rank keeps the whole numbers that it sends (floats
// are not computed, so nobody may depend on them), and a rank that runs later is given them.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace tidemark {

/// What the members of a communicator agree on: its name in the store of torch.distributed, and their ranks in the
/// world.
struct Group {
  std::string name;
  std::vector<int> ranks;
};

/// Python says which communicator an id (the first bytes of an ncclUniqueId) will stand for, and which ranks the next
/// split will have.
Group group_of_id(const char* id, int ranks);
Group next_split(const Group& parent, int color);

/// Keeps the next message of `channel`; without a folder to keep it in, does nothing.
void keep_message(const std::string& channel, const void* data, std::size_t bytes);
/// The next message of `channel`, which `from` sent.  If `from` has not run, or never got that far, this process cannot
/// go on: it leaves a note for the launcher, which runs `from` first, and ends.
void take_message(const std::string& channel, void* data, std::size_t bytes, int from);

/// Counts a message that is not kept.  What one rank sends as whole numbers another may receive as floats (torch 2.9.1:
/// pipelining/stage.py, _get_init_p2p_neighbors_ops): messages belong together by their order alone.
void pass_message(const std::string& channel, bool sends);

/// Whether the data of a collective must be the sender's own: set around calls from Python, where anything may be
/// received.  Elsewhere (DDP's agreement on buckets, on shapes) every rank has computed the same.
bool data_is_awaited();

}  // namespace tidemark

extern "C" {  // for python/tidemark/inside/alone.py (ctypes)
__attribute__((visibility("default"))) void tidemark_name_communicator(const char* id, const char* name,
                                                                       const int* ranks, int count);
__attribute__((visibility("default"))) void tidemark_next_split(const char* name, const int* ranks, int count);
__attribute__((visibility("default"))) bool tidemark_await_data(bool yes);
/// `clean_up` is called before a rank ends that must know first what another sends: it ends in the middle of a call,
/// where Python cleans nothing up.
__attribute__((visibility("default"))) void tidemark_before_a_rank_leaves(void (*clean_up)());
__attribute__((visibility("default"))) void tidemark_keep_message(const char* channel, const void* data,
                                                                  std::size_t bytes);
__attribute__((visibility("default"))) void tidemark_take_message(const char* channel, void* data, std::size_t bytes,
                                                                  int from);
}
