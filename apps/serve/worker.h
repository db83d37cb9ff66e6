// The process that computes answers.
#pragma once
#include "answers/data.h"
#include "server_limits.h"

namespace tidemark::serve {

/// Answers questions from `socket` until that is closed, in a process that has just been forked from one with a single
/// thread.  Before the first, everything else that is open is closed, and the means to open anything given up: no
/// question can make it read a file, reach a network or start a program.
[[noreturn]] void work(int socket, const answers::Data& data, const Limits& limits);

}  // namespace tidemark::serve
