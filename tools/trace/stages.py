"""The stages of a pipeline by the `pp` of a spec of `tidemark predict`."""


def stage_of(model, spec, index):
    """One stage of a pipeline, as torchtitan cuts models of transformers (experiments/transformers_modeling_backend/pipeline.py): a copy whose
    other layers are gone, and where nn.Identity stands for what belongs to the first or the last stage."""
    import copy

    import torch

    class Stage(torch.nn.Module):
        def __init__(self, whole):
            super().__init__()
            self.whole = whole

        def forward(self, input_ids, **more):
            return self.whole(input_ids=input_ids, **more).logits

    whole = copy.deepcopy(model.get_base_model() if "lora" in spec else model)
    text, layers = whole.base_model, layers_of_stages(spec)
    if spec.get("images"):
        text = text.language_model
    before, behind = {"gpt_neox": (("embed_in", "emb_dropout"), "final_layer_norm")}.get(spec["model"]["model_type"], (("embed_tokens",), "norm"))
    start = sum(layers[:index])
    text.layers = torch.nn.ModuleList(text.layers[start : start + layers[index]])
    if index > 0:
        for name in before:
            setattr(text, name, torch.nn.Identity())
        if spec.get("images"):
            whole.model.vision_tower = whole.model.multi_modal_projector = torch.nn.Identity()
    if index < len(layers) - 1:
        whole.lm_head = torch.nn.Identity()
        setattr(text, behind, torch.nn.Identity())
    return Stage(whole).to("cuda")


def layers_of_stages(spec):
    pp = spec["pp"]
    stages = pp["degree"] * pp.get("stages_per_rank", 1)
    if "layers" in pp:
        return pp["layers"]
    layers = spec["model"].get("text_config", spec["model"])["num_hidden_layers"]
    return [layers // stages + (index < layers % stages) for index in range(stages)]
