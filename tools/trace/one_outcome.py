"""For recordings: of what several threads race for always the same outcome."""

import time


def let_threads_go():
    """torch.autograd.grad returns as soon as there are gradients.  Autograd's thread for the device has them, too, until the
    interpreter is free: from now on it has let go of them."""
    import torch

    gradients_of = torch.autograd.grad

    def grad(*args, **kwargs):
        gradients = gradients_of(*args, **kwargs)
        time.sleep(0.05)
        return gradients

    torch.autograd.grad = grad
