"""Keys that a config.json leaves out: what the header of a family's program takes for them."""

from tidemark.capture.keys import Defaults, makers_of_defaults


def test_defaults_are_numbers_or_made_of_other_keys():
    def build(keys):
        keys = {"heads": 4, "dim": None, "act": "relu", **keys}
        return {**keys, "dim": keys["dim"] or keys["width"] // keys["heads"], "act": keys.pop("hidden_act", keys["act"])}

    draws = [{"width": w, "heads": h, "dim": 99, "act": "gelu"} for w, h in ((64, 4), (96, 2), (160, 8), (40, 4), (240, 6))]
    defaults = Defaults(build, draws, {"hidden_act": "act"})
    assert defaults.line("dim", ["width", "heads"]) == "dim = width//heads; null"
    assert defaults.line("heads", ["width", "dim"]) == "heads = 4"
    assert defaults.line("act", []) == 'act = "relu"; also hidden_act'


def test_a_part_of_another_type_has_its_own_default():
    widths = {"opt": 768, "llama": 4096}

    def build(keys):
        text = {"model_type": "opt", "heads": 8, **keys.get("text", {})}
        text = {"width": widths[text["model_type"]], **text}
        if text["width"] and text["width"] % text["heads"]:
            raise ValueError("heads")
        return {"text": text}

    defaults = Defaults(build, [{"text": {"model_type": "llama", "width": 42, "heads": 7}}], {})
    assert defaults.line("text.width", []) == "text.width = 4096"


def test_default_of_a_key_names_the_keys_that_make_it():
    def build(keys):
        vision = {"dim": None, "heads": 4, "layers": 2, **keys["vision"]}
        return {**keys, "vision": {**vision, "dim": vision["dim"] or vision["width"] // vision["heads"]}}

    base = {"heads": 8, "vision": {"width": 64, "heads": 4, "layers": 2, "dim": 16}}
    assert makers_of_defaults(build, base, ["vision.width", "vision.dim"]) == ["vision.heads"]
    assert makers_of_defaults(build, base, ["vision.width", "vision.layers"]) == []
    assert makers_of_defaults(build, base, ["vision.width", "vision.dim", "vision.heads"]) == []


def test_what_older_files_say_is_taken_where_the_class_takes_it():
    def build(keys):
        older = keys.pop("n_embed", None)
        keys.pop("other", None)
        keys = {"width": 64, "heads": 4, **keys}
        return {**keys, "width": older or keys["width"], "heads": keys.pop("n_head", keys["heads"])}

    draws = [{"width": w, "heads": 4} for w in (96, 160)]
    defaults = Defaults(build, draws, {"n_head": "heads"}, ["n_embed", "other"])
    assert defaults.line("width", []) == "width = 64; also n_embed"
    assert defaults.line("heads", []) == "heads = 4; also n_head"  # its value is the default's


def test_what_older_files_say_outside_of_rope_parameters_is_taken():
    """EleutherAI/pythia-410m says rotary_pct."""

    def build(keys):
        share = keys.pop("rotary_pct", 0.25)
        return {**keys, "rope_parameters": {"share": share, "rope_type": "default", **keys.get("rope_parameters", {})}}

    defaults = Defaults(build, [{"rope_parameters": {"share": 0.25, "rope_type": "default"}}], {}, ["rotary_pct", "rotary_base"])
    assert defaults.line("rope_parameters.share", []) == "rope_parameters.share = 0.25; also rope_scaling.share rotary_pct"
