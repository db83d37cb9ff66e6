"""`--data all`: what a whole epoch's batches need, from training on some of them.

`loaders` draws every batch of a DataLoader on the host and hands out the ones that tell most; `steps_of` reads the trained steps as sequences of
requests; `sizes` finds how the requests follow from the shapes of a batch; `whole` puts the epoch's steps together and asks PyTorch's
own allocator.
"""
