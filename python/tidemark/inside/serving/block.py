"""The block `serving` of a report (docs/reference/report.schema.json)."""

from . import notes

terms = {}  # {name: bytes} of this process's worker, in the order in which they were known


def block(run_dir):
    """{"serving": …}, or nothing where no engine was at work."""
    engine = notes.read(run_dir, notes.ENGINE)
    if not engine and not terms:
        return {}
    requests = notes.read(run_dir, notes.REQUESTS)
    rows = [{"name": name, "bytes": size} for name, size in terms.items()]
    return {"serving": {"engine": "vLLM", "version": "", **engine, "terms": rows, **({"requests": requests} if requests else {})}}
