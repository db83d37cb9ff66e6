"""What a module keeps of its last call alone, as functools.lru_cache(maxsize=1) around its forward does (transformers 5.23.0: modeling_sam2.py, Sam2SinePositionEmbedding.forward)."""

from .lifting import used
from .recorder import Call, Death, Kept, Ref

NAME = "of_its_last_call"  # of an attribute that stands for it: no module has one


def tell_slots(recorder):
    """Where a value that a module gave ends within the module's next call, and that of the last call is left: each call keeps its own by one name, and what was there before goes."""
    frames = {}
    for frame in _frames(recorder.root):
        if frame.kind == "class" and frame.path is not None:
            frames.setdefault(frame.path, []).append(frame)
    for path, calls in frames.items():
        given = [_only(frame) for frame in calls]
        if len(calls) > 1 and None not in given and given[-1].value in recorder.left_alive and all(_ends(before, frame) for before, frame in zip(given, calls[1:])):
            for before, frame, own in zip([None, *given], calls, given):
                frame.events = [event for event in frame.events if not (isinstance(event, Death) and event.ref == before)]
                frame.events.append(Kept(own, path=f"{path}.{NAME}"))
                _end_where_last_used(own, frame)
            recorder.left_alive.discard(given[-1].value)  # it has said by whom
            recorder.alive_at_return.difference_update(one.value for one in given)


def _frames(frame):
    for event in frame.events:
        if isinstance(event, Call):
            yield event.frame
            yield from _frames(event.frame)


def _only(frame):
    """The one value that a call gives; None where it gives others."""
    terms = [term for _, term in frame.returned]
    return terms[0] if len(terms) == 1 and isinstance(terms[0], Ref) else None


def _end_where_last_used(ref, frame):
    """The caller's own name of what a call gave, as nothing else has been seen of it."""
    events = frame.parent.events
    last = max(i for i, event in enumerate(events) if isinstance(event, Call) and event.frame is frame or ref in used(event))
    if ref not in (term for _, term in frame.parent.returned):
        events.insert(last + 1, Death(ref))


def _ends(ref, frame):
    return any(isinstance(event, Death) and event.ref == ref for event in frame.events)
