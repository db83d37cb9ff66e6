"""Files the blocks that hold certain tensors under a category and a module; without keeping any tensor."""

import array
import collections

from . import door

PARAMETERS, GRADIENTS, OPTIMIZER_STATE, COMMUNICATION = 1, 2, 3, 6   # Category, event_log.h


class _Shares:
    """Blocks that hold tensors of several modules: the flat buffers of ZeRO and Megatron, the buckets of DDP."""

    def __init__(self):
        self.known = {}   # (address, category) → {module: bytes}, as last marked

    def note(self, address, category, tensors):
        """`tensors`: (module, bytes), each place of the block once."""
        bytes_of = collections.Counter()
        for module, size in tensors:
            bytes_of[module] += size
        if len(bytes_of) > 1:
            self.known[address, category] = bytes_of
        else:
            self.known.pop((address, category), None)

    def of(self, address, category, module, size):
        """[(module, bytes)] of a block that is filed under `module`; what none of its tensors takes is no module's."""
        bytes_of = self.known.get((address, category), {})
        rest = size - sum(bytes_of.values())
        return [*bytes_of.items(), (0, rest)] if module in bytes_of and rest >= 0 else [(module, size)]


shares = _Shares()


def mark(category, owned):
    """`owned`: (tensor, number of the module that it belongs to, or 0)."""
    pairs, places = array.array("Q"), {}
    for tensor, module in owned:
        tensor = getattr(tensor, "_local_tensor", tensor)   # DTensor: this rank's part
        if address := _address(tensor):
            pairs.extend((address, module))
            places.setdefault(address, {}).setdefault(tensor.storage_offset(), (module, tensor.numel() * tensor.element_size()))
    if pairs:
        door.library().tidemark_mark(pairs.buffer_info()[0], len(pairs) // 2, category)
    for address, tensors in places.items():
        shares.note(address, category, tensors.values())


def _address(tensor):
    try:
        return tensor.untyped_storage().data_ptr() if tensor.is_cuda else 0
    except (RuntimeError, NotImplementedError, AttributeError):
        return 0   # a wrapper without storage of its own
