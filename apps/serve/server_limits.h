// What a server takes upon itself at most.
#pragma once
#include <cstdint>

namespace tidemark::serve {

struct Limits {
  std::int64_t workers = 2;                           // answers that are computed at once, each in a process of its own
  std::int64_t waiting = 64;                          // questions that wait for one; further ones are turned away
  std::int64_t body_bytes = 1 << 20;                  // of a question
  std::int64_t answer_seconds = 30;                   // for an answer; its worker is ended then
  std::int64_t idle_seconds = 30;                     // for a client to say something
  std::int64_t worker_bytes = std::int64_t{4} << 30;  // of a worker's address space
};

}  // namespace tidemark::serve
