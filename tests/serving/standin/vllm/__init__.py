"""Not vLLM: the names of it that Tidemark watches, around a few tensors, for tests of how a server ends and is reported."""

__version__ = "0.33.0"
