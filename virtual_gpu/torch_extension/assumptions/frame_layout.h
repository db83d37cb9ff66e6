// How CPython 3.11 and later keep the frames of running code, read where they lie.  To ask its interface for one makes
// a frame object of it, and of every caller: containers that the collector counts, so that its moments would not be the
// program's own.
#pragma once
#include <cstddef>
#include <optional>

extern "C" {
struct PyObject;  // NOLINT(readability-identifier-naming)
}

namespace tidemark {

/// Offsets of words, found by comparing what frame objects answer with the memory behind them; never assumed.
class FrameLayout {
 public:
  struct Line {
    PyObject* code;  // borrowed
    int number;
  };

  /// Of the interpreter that runs here.  At least three Python functions must be on this thread's stack, each called by
  /// the one before it; none is found before 3.11 (frames are objects there, and asking makes nothing), nor where an
  /// answer does not fit.
  static std::optional<FrameLayout> find();

  /// The innermost frame of this thread, and the one that called it; null at the end.
  const char* innermost() const;
  const char* caller(const char* frame) const;
  /// What a frame runs; no code in those that the interpreter makes for itself.
  Line line(const char* frame) const;

 private:
  bool find_words(PyObject* const* frames, int count);
  bool find_innermost(const char* frame);

  std::size_t through_ = 0;  // in the thread's state, to what holds the innermost frame; 0: the state itself
  std::size_t innermost_ = 0, caller_ = 0, code_ = 0, instruction_ = 0;
  std::ptrdiff_t first_instruction_ = 0;  // from the code object
};

}  // namespace tidemark
