"""PyTorch's MemTracker (torch.distributed._tools.mem_tracker) over the real training loop on fake tensors.

Used as its docstring shows: track_external before the context, reset_mod_stats between iterations, the peak from get_tracker_snapshot.  The model
is made on the (virtual) GPU as a fake one; optimizer, batch, order of zero_grad and what stays alive between iterations are those of
validation/xmem/train.py.  What differs is that batches have no attention mask: these models ask whether it masks anything, and of a fake tensor
nobody knows (DataDependentOutputException).
"""

from training import LENGTHS, Refused

DEVICE = "cuda:0"
ITERATIONS = 2  # of the four: after the first, everything that outlives a step exists, and all batches here are of one length


def version():
    import torch

    return f"torch {torch.__version__}"


def estimate(training):
    import torch
    from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensorMode

    try:
        with FakeTensorMode(allow_non_fake_inputs=True):
            return peak_bytes(training)
    except DataDependentOutputException as error:
        raise Refused(f"the model looks at data, which fake tensors do not have: {error.func}") from error
    finally:
        torch.set_default_device(None)


def peak_bytes(training):
    import torch
    from torch.distributed._tools.mem_tracker import MemTracker

    import train

    with torch.device(DEVICE):
        model = train.make(training.model)
        optimizer = train.optimizer_class(training.optimizer)(params=model.parameters(), lr=0.001)
    tracker = MemTracker()
    tracker.track_external(model, optimizer)
    with tracker:
        loop(model, optimizer, training, tracker)
    (peak,) = [kinds["Total"] for device, kinds in tracker.get_tracker_snapshot("peak").items() if device.type == "cuda"]
    return peak


def batches(training):
    """(inputs of the model, labels of the loss function)"""
    import torch

    import train

    if training.is_cnn:
        for _ in range(ITERATIONS):
            yield (torch.empty(training.batch, *train.IMAGE, device=DEVICE), torch.randint(0, 10, (training.batch,), device=DEVICE))
    else:
        for length in LENGTHS[:ITERATIONS]:
            yield {key: value.to(DEVICE) for key, value in train.text_batch(training.batch, length).items() if key != "attention_mask"}


def loop(model, optimizer, training, tracker):
    """train.train_transformer and train.train_cnn."""
    import torch

    criterion = torch.nn.CrossEntropyLoss()
    for batch in batches(training):
        if training.zero_grad == 0:
            optimizer.zero_grad()
        if isinstance(batch, dict):
            outputs = model(**batch)
            loss = outputs.loss
        else:
            outputs = model(batch[0])
            loss = criterion(outputs, batch[1])
        if training.zero_grad == 1:
            optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if training.zero_grad == 2:
            optimizer.zero_grad()
        tracker.reset_mod_stats()
