"""Run by test_dtypes.py under `tidemark run`: a line for each way in which what is cast under autocast alone may be held."""

from tidemark.capture.dtypes import _lives_on
from tidemark.capture.recorder import Death, Frame, Op
from tidemark.capture.terms import DtypeOf, Ref, Typed


def told(events_after, given=(), made=Typed(Ref(1), DtypeOf("float32"), (), ())):
    frame = Frame("class", "Model", "", None)
    plain, cast = (Op("torch.Tensor.to", (Ref(0),), (), (result,), None) for result in (Ref(0), made))
    frame.given = [("0", Ref(value)) for value in given]
    frame.events = [Op("torch.neg", (Ref(0),), (), (), None), cast, *events_after]
    return _lives_on(frame, plain, cast)


after = Op("torch.abs", (Ref(1),), (), (), None)
print("dies with its name:", told([Death(Ref(5)), Death(Ref(0)), after]))
print("dies later:", told([after, Death(Ref(0))]))
print("does not die:", told([]))
print("is the caller's:", told([], given=[0]))
print("is not cast:", told([], made=Ref(0)))
