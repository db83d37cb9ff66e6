// A server that answers questions of teams and schedulers over HTTP: one thread that listens, and workers that compute.
#pragma once
#include <cstdint>
#include <string>

#include "answers/data.h"
#include "server_limits.h"

namespace tidemark::serve {

struct Address {
  std::string host = "127.0.0.1";
  std::int64_t port = 8080;  // 0: one that is free
};

/// Serves until SIGTERM or SIGINT, then finishes what has been asked.  `data` holds all that is ever read.  Says on
/// stdout where it listens. For the main of a program, before its threads begin.  Throws Error.
void serve(const Address& address, const answers::Data& data, const Limits& limits);

}  // namespace tidemark::serve
