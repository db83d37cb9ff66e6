"""Optimizers of a spec that are not torch.optim's: bitsandbytes' and transformers'."""

NAMES = ("adamw_8bit", "paged_adamw_8bit", "paged_adamw_32bit", "lion_8bit", "lion_32bit", "paged_lion_8bit", "paged_lion_32bit", "transformers_adafactor")


def other_optimizer(name, trainable):
    if name == "transformers_adafactor":
        from transformers import Adafactor

        return Adafactor(trainable, lr=1e-4, scale_parameter=False, relative_step=False)
    import bitsandbytes

    kind = "".join({"adamw": "AdamW"}.get(word, word.capitalize()) for word in name.split("_"))
    return getattr(bitsandbytes.optim, kind)(trainable, lr=1e-4)
