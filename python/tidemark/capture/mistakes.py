"""What the user can mend, in one sentence."""


class Mistake(Exception):
    exit_code = 2


class Unsupported(Mistake):
    exit_code = 3


def with_room(make):
    """What `make(more)` gives, of as few more tokens as the images of a text need."""
    for more in (0, 256, 1024, 4096, 16384):
        try:
            return make(more)
        except Mistake as mistake:
            last = mistake
    raise last
