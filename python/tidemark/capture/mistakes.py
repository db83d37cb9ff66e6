"""What the user can mend, in one sentence."""


class Mistake(Exception):
    exit_code = 2


class Unsupported(Mistake):
    exit_code = 3
