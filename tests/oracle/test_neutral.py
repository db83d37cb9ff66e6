"""What runs inside PyTorch must not change what the allocator does: event by event, with and without it."""

import pytest
from harness import PROGRAMS, allocator_events, first_divergence, in_any_order_of_frees, versions_of

pytestmark = pytest.mark.oracle

# Autocast keeps its casts of the weights in a hash map by address and frees them in its order, which differs between two runs of
# the plain program as well: there a run of consecutive frees is compared as a set.
AUTOCAST = {"encoder_autocast", "encoder_float16_scaler", "gpt2_autocast"}
TORCH = versions_of("torch")["torch"]


def whatever_order_the_map_has(events):
    """On torch 2.12 which of equal free blocks is taken follows from the order of frees (BlockComparatorRegistrationCounter), and addresses with it."""
    return in_any_order_of_frees(events, with_addresses=not TORCH.startswith("2.12."))


@pytest.mark.slow("neutrality with late events", keep=["instant"])
@pytest.mark.parametrize("event_order", ["instant", "late"])
def test_allocator_events_are_the_same(tmp_path, event_order):
    bare, _ = allocator_events(PROGRAMS / "neutral_models.py", folder=tmp_path, bare=True, event_order=event_order)
    whole, names = allocator_events(PROGRAMS / "neutral_models.py", folder=tmp_path, bare=False, event_order=event_order)
    assert bare.keys() == whole.keys()
    different, allocations = {}, 0
    for case in bare:
        view = whatever_order_the_map_has if case in AUTOCAST else list
        divergence = first_divergence(view(bare[case]), view(whole[case]), names, allocations)
        if divergence:
            different[case] = divergence
        assert len(bare[case]) > 20, case
        allocations += sum(1 for event in whole[case] if event[0] == "alloc")
    assert not different, "\n\n".join(f"{case}: {text}" for case, text in different.items())
