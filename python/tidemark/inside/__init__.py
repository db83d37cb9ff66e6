"""What runs inside the user's process: see `session.py` for the order in which things happen."""
