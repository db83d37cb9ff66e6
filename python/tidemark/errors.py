"""The one exception of predictions and plans."""

from __future__ import annotations


class Error(ValueError):
    """What is wrong with a question, in the words of the command: `str(error)` is what it prints behind "tidemark: ".

    `code` is one of usage, unknown_name, bad_value, bad_file, not_found, unsupported, io, bug; `message`, `where` and `hint` are its parts.
    """

    def __init__(self, code, message, where="", hint=""):
        super().__init__((f"{where}: " if where else "") + message + (f"\n  {hint}" if hint else ""))
        self.code, self.message, self.where, self.hint = code, message, where, hint

    def __reduce__(self):
        return type(self), (self.code, self.message, self.where, self.hint)


class NotCaptured(Error):
    """No program that is at hand holds for the model; the command can capture one."""


def from_values(values):
    """Of an answer's {"code", "message", "where", "hint"}."""
    kind = NotCaptured if values.get("can_be_captured") else Error
    return kind(values["code"], values["message"], values["where"], values["hint"])
