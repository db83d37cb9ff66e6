"""Questions and answers as JSON (src/answers), in this process: libtidemark_core.so, which lets go of the interpreter's lock while it computes.

Where the library cannot be loaded, the command answers the same questions in a process of its own.  TIDEMARK_CORE names a library, or "command".
"""

from __future__ import annotations

import ctypes
import functools
import json
import os
import subprocess

from . import errors, places

_INTERFACE = 2  # TIDEMARK_CORE_INTERFACE of bindings/c/tidemark_core.h


def ask(topic, question, told=None):
    """The answer's text.  Any number of threads may ask at once.  Raises Error.

    `told` is called with how far a plan is, where it is made in this process; what it raises ends the plan."""
    text, is_good = answerer()(topic, json.dumps(question, separators=(",", ":")), told)
    if not is_good:
        raise errors.from_values(json.loads(text)["error"])
    return text


def is_in_process():
    return isinstance(answerer(), _Library)


def answerer():
    # A lock would be there for nothing: opened twice at worst, by threads that ask for the first time at once.
    return _answerer(os.environ.get("TIDEMARK_CORE", ""), os.environ.get("TIDEMARK_BIN", ""))


@functools.lru_cache(maxsize=8)
def _answerer(chosen, _launcher):
    if chosen == "command":
        return _by_command
    for path in [chosen] if chosen else places.libraries():
        if os.path.exists(path):
            library = _loaded(path)
            if library:
                return library
    if chosen:
        raise errors.Error("not_found", "it is no library of Tidemark's that can be loaded here", f"TIDEMARK_CORE: {chosen}")
    return _by_command


def _loaded(path):
    try:
        library = ctypes.CDLL(path)
        if library.tidemark_core_interface() != _INTERFACE:
            return None
    except (OSError, AttributeError):  # of a newer system, or of something else
        return None
    return _Library(library, places.data(path))


_TELL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)


class _Library:
    def __init__(self, library, data):
        self._ask_and_be_told = library.tidemark_ask_and_be_told
        self._ask_and_be_told.restype = ctypes.c_void_p
        self._ask_and_be_told.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_int), _TELL, ctypes.c_void_p]
        self._ask, self._free = library.tidemark_ask, library.tidemark_free
        self._ask.restype, self._ask.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_int)]
        self._free.restype, self._free.argtypes = None, [ctypes.c_void_p]
        library.tidemark_open.restype, library.tidemark_open.argtypes = ctypes.c_void_p, [ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)]
        why = ctypes.c_void_p()
        self._opened = library.tidemark_open(os.fsencode(data), ctypes.byref(why))
        if not self._opened:
            raise errors.from_values(json.loads(self._taken(why.value))["error"])

    def __call__(self, topic, question, told=None):
        is_good, raised = ctypes.c_int(), []
        asked = (self._opened, topic.encode(), question.encode(), ctypes.byref(is_good))
        answer = self._ask_and_be_told(*asked, _telling(told, raised), None) if told else self._ask(*asked)
        if raised:
            self._free(answer)
            raise raised[0]
        if not answer:
            raise MemoryError("there is no memory for the answer")
        return self._taken(answer), bool(is_good.value)

    def _taken(self, text):
        try:
            return ctypes.string_at(text).decode()
        finally:
            self._free(text)


def _telling(told, raised):
    @_TELL
    def tell(_context, progress):
        try:
            told(json.loads(progress))
        except BaseException as exception:  # for the thread that asks, as Ctrl-C in a callback
            raised.append(exception)
        return len(raised)

    return tell


def _by_command(topic, question, _told=None):
    done = subprocess.run([places.launcher(), "answer", topic], input=question.encode(), capture_output=True)
    if done.returncode not in (0, 2, 3, 70) or not done.stdout:
        raise errors.Error("bug", f"the command ended with exit code {done.returncode}", hint=done.stderr.decode(errors="replace").strip())
    return done.stdout.decode(), done.returncode == 0


def keys_of(name):
    """The properties of "spec" or "plan", each with its JSON Schema."""
    return described()[f"{name}_schema"]["properties"]


def version():
    """Tidemark's own."""
    return described()["version"]


@functools.lru_cache(maxsize=1)
def described():
    """The cards, families and keys that answers are made of: the topic `describe`."""
    values = json.loads(ask("describe", {}))
    return {**values, "spec_schema": json.loads(values["spec_schema"])}
