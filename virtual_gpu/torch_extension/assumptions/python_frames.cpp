#include "python_frames.h"

#include <deque>
#include <optional>
#include <unordered_map>

#include "frame_layout.h"

extern "C" {  // CPython's C API, in every supported version (3.9 and later)
struct PyObject;
int Py_IsInitialized();
int PyGILState_Ensure();
void PyGILState_Release(int);
PyObject* PyEval_GetFrame();           // borrowed
PyObject* PyFrame_GetBack(PyObject*);  // new reference
PyObject* PyFrame_GetCode(PyObject*);  // new reference
int PyFrame_GetLineNumber(PyObject*);
PyObject* PyObject_GetAttrString(PyObject*, const char*);
const char* PyUnicode_AsUTF8(PyObject*);
void Py_IncRef(PyObject*);
void Py_DecRef(PyObject*);
}

namespace tidemark {
namespace {

struct File {
  std::string name;
  bool is_torch;
};

/// Interned lines.  Touched with the GIL held, except for line_text at the end of a run.
struct Lines {
  std::unordered_map<PyObject*, File> files;  // by code object; a reference is kept, so an address is never reused
  std::unordered_map<PyObject*, std::unordered_map<int, std::uint32_t>> ids;
  std::deque<std::string> texts{"(no Python line)"};
};

Lines& lines() {
  static auto* all = new Lines;
  return *all;
}

const File& file_of(PyObject* code) {
  const auto found = lines().files.find(code);
  if (found != lines().files.end()) return found->second;
  Py_IncRef(code);
  PyObject* name = PyObject_GetAttrString(code, "co_filename");
  const char* utf8 = name ? PyUnicode_AsUTF8(name) : nullptr;
  std::string text = utf8 ? utf8 : "?";
  if (name) Py_DecRef(name);
  const bool is_torch = text.find("/torch/") != std::string::npos || text.find("/tidemark/") != std::string::npos ||
                        text.empty() || text[0] == '<';
  return lines().files.emplace(code, File{std::move(text), is_torch}).first->second;
}

std::uint32_t intern(PyObject* code, int line) {
  auto& id = lines().ids[code][line];
  if (id == 0) {
    id = static_cast<std::uint32_t>(lines().texts.size());
    lines().texts.push_back(file_of(code).name + ":" + std::to_string(line));
  }
  return id;
}

/// Set once, before CUDA begins.
std::optional<FrameLayout>& layout() {
  static std::optional<FrameLayout> found;
  return found;
}

std::uint32_t line_of_memory(const FrameLayout& known) {
  for (const char* frame = known.innermost(); frame; frame = known.caller(frame)) {
    const auto [code, number] = known.line(frame);
    if (code && !file_of(code).is_torch) return intern(code, number);
  }
  return 0;
}

std::uint32_t line_of_objects() {
  std::uint32_t id = 0;
  PyObject* frame = PyEval_GetFrame();
  if (frame) Py_IncRef(frame);
  while (frame) {  // to the end: a frame that is left with a reference keeps all of its callers, and their tensors
    PyObject* code = PyFrame_GetCode(frame);
    if (!file_of(code).is_torch) id = intern(code, PyFrame_GetLineNumber(frame));
    Py_DecRef(code);
    PyObject* back = id ? nullptr : PyFrame_GetBack(frame);
    Py_DecRef(frame);
    frame = back;
  }
  return id;
}

}  // namespace

std::uint32_t python_line() {
  if (!Py_IsInitialized()) return 0;
  const int gil = PyGILState_Ensure();
  const std::uint32_t id = layout() ? line_of_memory(*layout()) : line_of_objects();
  PyGILState_Release(gil);
  return id;
}

const std::string& line_text(std::uint32_t id) { return lines().texts.at(id); }
std::uint32_t line_count() { return static_cast<std::uint32_t>(lines().texts.size()); }

}  // namespace tidemark

/// For python/tidemark (ctypes), from within some functions of its own: whether lines are read without an object made
/// for them.
extern "C" bool tidemark_read_frames_as_they_lie() {
  tidemark::layout() = tidemark::FrameLayout::find();
  return tidemark::layout().has_value();
}
