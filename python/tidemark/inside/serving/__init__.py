"""Engines that serve a model: what they count themselves, and when a server has been asked all that it was to be asked."""
