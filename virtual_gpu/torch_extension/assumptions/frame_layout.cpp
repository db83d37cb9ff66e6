#include "frame_layout.h"

#include <array>
#include <cstdint>
#include <cstring>

extern "C" {  // CPython's C API
struct PyThreadState;
PyThreadState* PyThreadState_Get();
PyObject* PyEval_GetFrame();           // borrowed
PyObject* PyFrame_GetBack(PyObject*);  // new reference
PyObject* PyFrame_GetCode(PyObject*);  // new reference
int PyCode_Addr2Line(PyObject*, int);
void Py_IncRef(PyObject*);
void Py_DecRef(PyObject*);
PyObject* PyObject_GetAttrString(PyObject*, const char*);
long PyLong_AsLong(PyObject*);
extern char PyCode_Type;
extern const unsigned long Py_Version;  // 3.11 and later  NOLINT(google-runtime-int)
#pragma weak Py_Version
}

namespace tidemark {
namespace {

constexpr std::size_t kWord = sizeof(void*);
constexpr std::size_t kTypeOfObject = kWord;  // PyObject: ob_refcnt, ob_type
constexpr std::size_t kFrameOfObject =
    3 * kWord;                             // PyFrameObject: ob_base, f_back, f_frame (pycore_frame.h, 3.11 to 3.14)
constexpr std::size_t kWordsOfFrame = 10;  // _PyInterpreterFrame's, before its locals
constexpr std::size_t kThreadFrames = 56;  // PyThreadState::cframe in 3.11 and 3.12 (cpython/pystate.h)
constexpr std::size_t kWordsOfThread = 32;
constexpr int kFrames = 3;

const char* word(const char* at) {
  const char* value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// 3.14 marks references that a frame does not count in their lowest bits.
PyObject* object(const char* tagged) {
  return reinterpret_cast<PyObject*>(reinterpret_cast<std::uintptr_t>(tagged) &
                                     ~std::uintptr_t{3});  // NOLINT(performance-no-int-to-ptr)
}

const char* memory_of(PyObject* frame) { return word(reinterpret_cast<const char*>(frame) + kFrameOfObject); }

/// The only word of a frame for which `fits(frame, value)` is true of all of them; 0 when there is none, or two.  (The
/// word at 0 counts as 1.)
template <class Fits>
std::size_t only_word(int count, Fits fits) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < kWordsOfFrame; ++i) {
    bool all = true;
    for (int k = 0; k < count && all; ++k) all = fits(k, i * kWord);
    if (!all) continue;
    if (found) return 0;
    found = i * kWord + 1;
  }
  return found;
}

long last_instruction(PyObject* frame) {
  PyObject* number = PyObject_GetAttrString(frame, "f_lasti");
  const long value = number ? PyLong_AsLong(number) : -1;
  if (number) Py_DecRef(number);
  return value;
}

}  // namespace

std::optional<FrameLayout> FrameLayout::find() {
  if (!&Py_Version) return std::nullopt;
  std::array<PyObject*, kFrames> frames{};
  PyObject* frame = PyEval_GetFrame();
  if (frame) Py_IncRef(frame);
  int count = 0;
  for (; frame && count < kFrames; frame = PyFrame_GetBack(frame)) frames[count++] = frame;
  if (frame) Py_DecRef(frame);
  FrameLayout layout;
  const bool found =
      count == kFrames && layout.find_words(frames.data(), count) && layout.find_innermost(memory_of(frames[0]));
  for (int k = 0; k < count; ++k) Py_DecRef(frames[k]);
  return found ? std::optional(layout) : std::nullopt;
}

bool FrameLayout::find_words(PyObject* const* frames, int count) {
  std::array<const char*, kFrames> memory{};
  std::array<PyObject*, kFrames> codes{};
  std::array<long, kFrames> last{};
  for (int k = 0; k < count; ++k) {
    memory[k] = memory_of(frames[k]);
    codes[k] = PyFrame_GetCode(frames[k]);
    Py_DecRef(codes[k]);  // its frame keeps it
    last[k] = last_instruction(frames[k]);
  }
  const std::size_t code =
      only_word(count, [&](int k, std::size_t at) { return object(word(memory[k] + at)) == codes[k]; });
  const std::size_t caller =
      only_word(count - 1, [&](int k, std::size_t at) { return word(memory[k] + at) == memory[k + 1]; });
  const auto first = [&](int k, std::size_t at) {
    return word(memory[k] + at) - reinterpret_cast<const char*>(codes[k]) - last[k];
  };
  const std::size_t instruction = only_word(count, [&](int k, std::size_t at) {
    return first(k, at) == first(0, at) && first(k, at) > 0 && first(k, at) < 1024;
  });
  if (!code || !caller || !instruction) return false;
  code_ = code - 1;
  caller_ = caller - 1;
  instruction_ = instruction - 1;
  first_instruction_ = first(0, instruction_);
  return true;
}

bool FrameLayout::find_innermost(const char* frame) {
  const char* thread = reinterpret_cast<const char*>(PyThreadState_Get());
  constexpr unsigned long k313 = 0x030D0000;  // NOLINT(google-runtime-int)
  if (Py_Version < k313) {  // PyThreadState::cframe, which is a bool and the frame in 3.11, and the frame in 3.12
    through_ = kThreadFrames;
    const char* frames = word(thread + kThreadFrames);
    innermost_ = word(frames) == frame ? 0 : kWord;
    return word(frames + innermost_) == frame;
  }
  for (std::size_t i = 0; i < kWordsOfThread; ++i) {
    if (word(thread + i * kWord) == frame) {
      innermost_ = i * kWord;
      return true;
    }
  }
  return false;
}

const char* FrameLayout::innermost() const {
  const char* thread = reinterpret_cast<const char*>(PyThreadState_Get());
  return word((through_ ? word(thread + through_) : thread) + innermost_);
}

const char* FrameLayout::caller(const char* frame) const { return word(frame + caller_); }

FrameLayout::Line FrameLayout::line(const char* frame) const {
  PyObject* code = object(word(frame + code_));
  if (!code || word(reinterpret_cast<const char*>(code) + kTypeOfObject) != &PyCode_Type) return {nullptr, 0};
  const std::ptrdiff_t instruction =
      word(frame + instruction_) - reinterpret_cast<const char*>(code) - first_instruction_;
  return {code, PyCode_Addr2Line(code, static_cast<int>(instruction))};
}

}  // namespace tidemark
