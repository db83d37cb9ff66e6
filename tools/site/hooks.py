"""What mkdocs is told besides (mkdocs.yml, `hooks`): links out of docs/ go to the repository, if what they name is there, or name it; Python's signatures become a page."""

import ast
import logging
import os
import pathlib
import re

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^)#\s]+)(#[^)\s]*)?\)")
log = logging.getLogger("mkdocs.plugins.tidemark")  # a warning of a plugin's fails a strict build


def on_config(config):
    config.extra["repository"] = os.environ.get("DOCS_REPOSITORY", config.extra["repository"])
    return config


def on_files(files, config):
    files.append(File.generated(config, "reference/signatures.md", content=signatures()))
    return files


def on_page_markdown(markdown, page, config, files):
    folder = (DOCS / page.file.src_uri).parent

    def out_of_docs(found):
        text, path, anchor = found.groups()
        if re.match(r"[a-z]+:", path):
            return found[0]
        target = pathlib.Path(os.path.normpath(folder / path))
        if target.is_relative_to(DOCS) and not target.name.endswith(".schema.json"):
            return found[0]
        if not target.exists():
            log.warning(f"{page.file.src_uri}: there is no {path}")
        name = target.relative_to(ROOT)
        if not config.extra["repository"]:
            return text if str(name) in text else f"{text} (`{name}`)"
        return f"[{text}]({config.extra['repository']}/{name}{anchor or ''})"

    return LINK.sub(out_of_docs, markdown)


# Where the package's functions and classes are written, with those of their names that are shown.
SHOWN = (
    ("predicting.py", ("predict", "plan", "options")),
    ("api.py", ("run", "ProgramFailed")),
    ("checkpointing.py", ("apply",)),
    ("reports.py", ("Report", "Plan")),
    ("errors.py", ("Error",)),
    ("ray.py", ("resources", "Resources")),
    ("placing.py", ("place", "Placement")),
)


def signatures():
    """Made of the package's own sources: signatures and docstrings."""
    lines = ["# Python's signatures", "", "Made from the sources of `python/tidemark`; [what each is for](python.md).", ""]
    for file, names in SHOWN:
        defined = {node.name: node for node in ast.parse((ROOT / "python/tidemark" / file).read_text()).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        for name in names:
            place = "tidemark." if file not in ("ray.py", "placing.py") else f"tidemark.{file[:-3]}."
            lines += _of(defined[name], place, "##")
            members = defined[name].body if isinstance(defined[name], ast.ClassDef) else []
            for member in members:
                if isinstance(member, ast.FunctionDef) and not member.name.startswith("_") and ast.get_docstring(member):
                    lines += _of(member, f"{name}.", "###")
    return "\n".join(lines)


def _of(node, place, level):
    if isinstance(node, ast.ClassDef):
        signature = f"class {place}{node.name}"
    else:
        arguments = ast.unparse(node.args)
        arguments = re.sub(r"^self(, )?", "", arguments)
        signature = f"{place}{node.name}({arguments})"
    told = (ast.get_docstring(node) or "").split("\n")
    return [f"{level} `{place}{node.name}`", "", "```python", signature, "```", "", *(f"    {line}" if line.startswith("    ") else line for line in told), ""]
