"""DeepSpeed's estimators of model states for ZeRO-2 and ZeRO-3: one node, one GPU, nothing offloaded.

estimate_zero*_model_states_mem_needs is what the functions ..._all_live and ..._all_cold print, in bytes rather than in GB with two digits;
counting parameters is the estimators' own (model_to_params, as ..._all_live calls it on the model).
"""

from training import Refused

ADAM = ("Adam", "AdamW")


def version():
    import deepspeed

    return f"deepspeed {deepspeed.__version__}"


def checked(training):
    """docs/code-docs/source/memory.rst, "Discussion": the optimizer states are Adam's."""
    if training.optimizer not in ADAM:
        raise Refused(f"it counts Adam's states, not those of {training.optimizer}")
    return training


def zero2(training):
    from deepspeed.runtime.zero import stage_1_and_2

    import train

    parameters = stage_1_and_2.model_to_params(train.make(checked(training).model))
    _, gpu_bytes = stage_1_and_2.estimate_zero2_model_states_mem_needs(parameters, num_gpus_per_node=1, num_nodes=1, cpu_offload=False)
    return gpu_bytes


def zero3(training):
    from deepspeed.runtime.zero import stage3

    import train

    parameters, largest_layer = stage3.model_to_params(train.make(checked(training).model))
    _, gpu_bytes, _ = stage3.estimate_zero3_model_states_mem_needs(parameters, largest_layer, num_gpus_per_node=1, num_nodes=1, cpu_offload=False, cpu_offload_params=False, zero_init=True)
    return gpu_bytes
