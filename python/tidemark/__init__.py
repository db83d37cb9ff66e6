"""Tidemark: how high GPU memory will rise, before a GPU is rented."""
