"""`--data all`: what a whole epoch's batches need, from training on some of them.

`loaders` draws every batch of a DataLoader on the host and hands out the ones that tell most; `stretches` reads the trained steps as sequences of
requests; `sizes` finds how the requests follow from the shapes of a batch; `made` makes the steps that were not trained; `replayed` asks PyTorch's
own allocator for the whole epoch; `whole` puts it together.
"""
