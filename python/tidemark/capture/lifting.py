"""Values that a frame uses, or that die in it, without having been given to it: a cache filled in another layer, the variables of a function under vmap.

Each becomes a hidden result of the frames from which it comes and a hidden argument of those to which it goes, named `^0`, `^1`, …, so that what a body
needs is told by its arguments alone.
"""

from .recorder import Call, Death, Kept, Op
from .terms import Ref, Typed, walk_terms


def refs(x):
    """The values that terms read."""
    for term in walk_terms(x):
        if isinstance(term, Ref):
            yield term


def used(event):
    """The values that the event needs, those that it makes left out."""
    if isinstance(event, (Death, Kept)):
        yield from refs(event.ref)
    elif isinstance(event, Op):
        for term in (*event.args, *(t for _, t in event.kwargs), *(r for r in event.results if not isinstance(r, Typed))):
            yield from refs(term)
    else:
        yield from (term for _, term in event.frame.given if isinstance(term, Ref))


class _Lifter:
    def __init__(self, recorder):
        self.seen, self.known = recorder.seen, {}

    def known_in(self, frame):
        """The values that the frame was given, made, or got from its calls."""
        if frame not in self.known:
            known = {t for _, t in frame.given}
            for event in frame.events:
                if isinstance(event, Call):
                    known.update(t for _, t in event.frame.returned)
                elif isinstance(event, Op):
                    known.update(r.ref for r in event.results if isinstance(r, Typed))
            self.known[frame] = known
        return self.known[frame]

    def lift(self, ref, frame):
        """Makes the value known in the frame: up from where it was made to where both meet, and down from there."""
        source, down, meeting = self.seen[ref.value].frame, [], frame
        while ref not in self.known_in(meeting) and not _within(source, meeting):
            down.append(meeting)
            meeting = meeting.parent
        while ref not in self.known_in(meeting):
            if ref not in {t for _, t in source.returned}:
                source.returned.append((_hidden(source.returned), ref))
            source = source.parent
            self.known_in(source).add(ref)
        for inner in reversed(down):
            inner.given.append((_hidden(inner.given), ref))
            self.known_in(inner).add(ref)

    def frame(self, frame):
        for event in frame.events:
            for ref in used(event):
                self.lift(ref, frame)
            if isinstance(event, Call):
                self.frame(event.frame)
        for _, term in frame.returned:
            if isinstance(term, Ref):
                self.lift(term, frame)


def _within(frame, outer):
    while frame is not None and frame is not outer:
        frame = frame.parent
    return frame is outer


def _hidden(named):
    return f"^{sum(path.startswith('^') for path, _ in named)}"


def _settle(recorder):
    """Numbers on the host that one frame makes and another is the first to use (a cache's count for each layer) are made where they are used: that takes no memory of the device."""
    makers = {}

    def visit(frame):
        for event in list(frame.events):
            for ref in used(event):
                maker = makers.pop(ref, None)
                if maker is not None and maker[0] is not frame and not isinstance(event, Call):
                    maker[0].events.remove(maker[1])
                    frame.events.insert(frame.events.index(event), maker[1])
                    recorder.seen[ref.value].frame = frame
            if isinstance(event, Call):
                visit(event.frame)
            elif isinstance(event, Op) and event.name == "torch.tensor" and len(event.results) == 1 and isinstance(event.results[0], Typed) and "cpu" in event.results[0].flags:
                makers[event.results[0].ref] = (frame, event)

    visit(recorder.root)


def lift(recorder):
    _settle(recorder)
    lifter = _Lifter(recorder)
    lifter.frame(recorder.root)
