"""Files the blocks that hold certain tensors under a category and a module; without keeping any tensor."""

import array
import collections
import itertools

from . import door

PARAMETERS, GRADIENTS, OPTIMIZER_STATE, COMMUNICATION, KV_CACHE = 1, 2, 3, 6, 7  # Category, event_log.h


class _Shares:
    """Blocks that hold tensors of several modules: the flat buffers of ZeRO and Megatron, the buckets of DDP."""

    def __init__(self):
        self.known = {}  # (address, category) → {module: bytes}, as last marked

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


_OFFSET_BITS = 48


def mark(category, owned):
    """`owned`: (tensor, number of the module that it belongs to, or 0).  Of many tensors no containers are held at a time, nor an object made for
    one, which would die with it: the collector counts both (collector.py)."""
    pairs, sizes, places = array.array("Q"), array.array("Q"), {}
    for tensor, module in owned:
        tensor = getattr(tensor, "_local_tensor", tensor)  # DTensor: this rank's part
        if address := _address(tensor):
            pairs.append(address)
            pairs.append(module)
            places.setdefault(address << _OFFSET_BITS | tensor.storage_offset(), len(sizes))
            sizes.append(tensor.numel() * tensor.element_size())
    if pairs:
        door.library().tidemark_mark(pairs.buffer_info()[0], len(pairs) // 2, category)
    for address, of_block in itertools.groupby(sorted(places), key=lambda place: place >> _OFFSET_BITS):
        shares.note(address, category, ((pairs[2 * places[place] + 1], sizes[places[place]]) for place in of_block))


def _address(tensor):
    """Of its storage, which to ask for is to make an object of it."""
    try:
        at = tensor.data_ptr() if tensor.is_cuda else 0
        return at - tensor.storage_offset() * tensor.element_size() if at else 0
    except (RuntimeError, NotImplementedError, AttributeError):
        return 0  # a wrapper without storage of its own
