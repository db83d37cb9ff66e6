"""Files the blocks that hold certain tensors under a category and a module; without keeping any tensor."""

import array

from . import door

PARAMETERS, GRADIENTS, OPTIMIZER_STATE, COMMUNICATION = 1, 2, 3, 6   # Category, event_log.h


def mark(category, owned):
    """`owned`: (tensor, number of the module that it belongs to, or 0)."""
    pairs = array.array("Q")
    for tensor, module in owned:
        if address := _address(tensor):
            pairs.extend((address, module))
    if pairs:
        door.library().tidemark_mark(pairs.buffer_info()[0], len(pairs) // 2, category)


def _address(tensor):
    tensor = getattr(tensor, "_local_tensor", tensor)   # DTensor: this rank's part
    try:
        return tensor.untyped_storage().data_ptr() if tensor.is_cuda else 0
    except (RuntimeError, NotImplementedError, AttributeError):
        return 0   # a wrapper without storage of its own
