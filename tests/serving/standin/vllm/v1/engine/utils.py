def shutdown(processes, timeout=None):
    """At once, as where an engine does not end in time."""
    for process in processes:
        process.kill()
        process.join()
