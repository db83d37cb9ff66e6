// A line on standard error, a terminal, that rewrites itself.
#pragma once
#include <string>

namespace tidemark::cli {

/// Goes from the terminal with its end.
class LiveLine {
 public:
  LiveLine() = default;
  ~LiveLine();
  LiveLine(const LiveLine&) = delete;
  LiveLine& operator=(const LiveLine&) = delete;

  /// Nothing for an empty text.
  void show(std::string text);
  void clear();

 private:
  std::string shown_;
};

}  // namespace tidemark::cli
