"""Numbers of a configuration, wherever in it they are."""


def parts_of(config):
    """A configuration, those within it, and those within these."""
    parts = [config]
    for part in parts:
        parts += [inner for inner in (getattr(part, name, None) for name in getattr(part, "sub_configs", {})) if inner is not None]
    return parts


def first_of(config, *names):
    """The first of the names that the configuration, or one of its parts, has as a number."""
    for name in names:
        for part in parts_of(config):
            value = getattr(part, name, None)
            value = value[0] if isinstance(value, (list, tuple)) and value else value
            if isinstance(value, int) and not isinstance(value, bool):
                return value
    return None
