"""Trees of files that the checks are tried on."""


def write(root, name, text):
    """The path of a file below `root`, with this text; its folders are made."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path
