// What the server and its workers say to each other, over a pair of sockets.
#pragma once
#include <cstdint>

namespace tidemark::serve {

/// Followed by the topic and the question.
struct AskedFrame {
  std::uint32_t topic_bytes = 0, question_bytes = 0;
};

enum class Outcome : std::uint32_t { good, wrong, unsupported, bug, out_of_memory };

/// How a worker ends that could not even say so.
inline constexpr int kNoMemoryExit = 9;

/// Followed by the answer.
struct AnswerFrame {
  Outcome outcome = Outcome::good;
  std::uint32_t answer_bytes = 0;
};

}  // namespace tidemark::serve
