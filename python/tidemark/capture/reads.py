"""Which keys of its configuration a model asks for: one that nobody reads is of no consequence, and needs no look."""

import contextlib
from collections import Counter


class Reads:
    """Keys by the class of the configuration, or the part of one, that has them."""

    def __init__(self):
        self.counts = Counter()

    def of(self, config, path):
        """Whether the key at this path of the configuration was read."""
        for name in path.split("."):
            if name not in (getattr(config, "sub_configs", None) or {}) or getattr(config, name, None) is None:
                return self.counts[type(config), name] > 0  # of a dict, any of it
            config = getattr(config, name)
        return True

    def add(self, reads, built, times):
        """What was read, but for what the class itself reads when it is built, so many times."""
        for key, count in reads.counts.items():
            self.counts[key] += max(0, count - times * built.counts[key])


@contextlib.contextmanager
def reading():
    """Reads, filled by what is done below."""
    from transformers import PretrainedConfig

    reads, original = Reads(), PretrainedConfig.__getattribute__

    def read(self, name):
        if not name.startswith("__"):
            kind = type(self)
            reads.counts[kind, kind.attribute_map.get(name, name)] += 1
        return original(self, name)

    PretrainedConfig.__getattribute__ = read
    try:
        yield reads
    finally:
        PretrainedConfig.__getattribute__ = original
