"""`accelerate estimate-memory MODEL --library_name transformers --dtypes float32`, its column "Training using Adam".

The command's own code is run (accelerate.commands.estimate, gather_data, and the maximum that estimate_command prints).  MODEL is a folder
with the model's configuration instead of a name on the Hub, so the one step left out is the question whether the Hub has that name.
"""

import tempfile
import types

from training import Refused

ADAM = ("Adam", "AdamW")


def version():
    import accelerate

    return f"accelerate {accelerate.__version__}"


def estimate(training):
    if training.is_cnn:
        raise Refused("it takes models of the Hub that transformers or timm make; this one is torchvision's")
    if training.optimizer not in ADAM:
        raise Refused(f"its only figure for training is for Adam, not for {training.optimizer}")
    return adam_bytes(training.model)


def adam_bytes(model):
    from accelerate.commands import estimate as command

    import train

    _, config, _ = train.TRANSFORMERS[model]()
    command.verify_on_hub = lambda name, token: types.SimpleNamespace(library_name="transformers", config={})
    with tempfile.TemporaryDirectory() as folder:
        config.save_pretrained(folder)
        arguments = command.estimate_command_parser().parse_args([folder, "--library_name", "transformers", "--dtypes", "float32"])
        ((_, _, _, training_usage),) = command.gather_data(arguments)
    return int(max(training_usage.values()))
