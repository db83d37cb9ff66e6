"""Keys of a configuration, nested ones by dotted paths; and what transformers takes for those that a config.json leaves out."""

import copy
import json
import math
import re

from .sizes import Solver

# Of no part in what a model computes: names, texts, and what is said to whoever generates.
_ASIDE = re.compile(
    r"(^|\.)(id2label|label2id|problem_type|architectures|_name_or_path|transformers_version|dtype|torch_dtype|tokenizer_class|model_type|use_cache|\w*token_ids?|\w*token_index"
    r"|initializer_\w+|task_specific_params|finetuning_task|prefix|generation_config|\w*_std|name_or_path)$"
)

COUNT = "count"
ROTATIONS = ("rope_parameters", "rope_scaling")  # the latter before transformers 5


def is_whole(value):
    return isinstance(value, int) and not isinstance(value, bool)


def leaves_of(keys, prefix=""):
    """(path, value) of all that is no dict; dicts that are not asked for by name (labels) are left out."""
    for key, value in keys.items():
        path = f"{prefix}{key}"
        if not isinstance(key, str) or _ASIDE.search(path):
            continue
        if isinstance(value, dict):
            yield from leaves_of(value, path + ".")
        else:
            yield path, value


def window_beside(keys, path):
    """Beside a flag that asks for windows, one that samples are longer than, in all layers: without it the flag does nothing (transformers 5.17.0: configuration_qwen2.py)."""
    above, _, name = path.rpartition(".")
    window = {f"{above}.{key}".lstrip("."): value for key, value in (("sliding_window", 16), ("max_window_layers", 0))}
    there = {p for p, _ in leaves_of(keys)}
    return {p: value for p, value in window.items() if p in there} if name == "use_sliding_window" else {}


def kinds_of(keys, prefix=""):
    """(path, model type) of the parts of a configuration."""
    for key, value in keys.items():
        if isinstance(value, dict):
            if "model_type" in value:
                yield f"{prefix}{key}.model_type", value["model_type"]
            yield from kinds_of(value, f"{prefix}{key}.")


def at(keys, path):
    """What is at a path; `indexes.0` is the first entry of a list, and `layer_types.count` how many it has."""
    for key in path.split("."):
        if isinstance(keys, (list, tuple)) and key.isdigit() and int(key) < len(keys):
            keys = keys[int(key)]
        elif isinstance(keys, (list, tuple)) and key == COUNT:
            keys = len(keys)
        else:
            keys = keys.get(key) if isinstance(keys, dict) else None
    return keys


def changed(keys, values):
    """A copy in which these paths have these values."""
    keys = copy.deepcopy(keys)
    for path, value in values.items():
        *above, last = path.split(".")
        inner = keys
        for key in above:
            inner = inner.setdefault(key, {})
        inner[last] = copy.deepcopy(value)
    return keys


def without(keys, path):
    keys = copy.deepcopy(keys)
    *above, last = path.split(".")
    inner = keys
    for key in above:
        inner = inner.get(key, {})
    inner.pop(last, None)
    return keys


def without_names_of_labels(keys):
    return without(without(keys, "id2label"), "label2id")


def written(value):
    """A literal of the header, as JSON; what that has no number for is null, as where a configuration is read (src/io/value_json.h)."""
    return json.dumps(_finite(value))


def _finite(value):
    if isinstance(value, dict):
        return {key: _finite(of) for key, of in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(of) for of in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def share_of(text, keys):
    """The value of "hidden_size//num_attention_heads", or of a key alone, where these are whole numbers; None of any other text."""
    sides = [at(keys, path) for path in text.split("//")]
    if not all(map(is_whole, sides)) or len(sides) > 2:
        return None
    return sides[0] if len(sides) == 1 else sides[0] // sides[1]


def parts_of(keys, paths):
    """{part: what of it is at these paths}"""
    parts = {}
    for path in paths:
        part, _, rest = path.partition(".")
        if rest and at(keys, path) is not None and isinstance(keys.get(part), dict) and "model_type" in keys[part]:
            parts[part] = changed(parts.get(part, {}), {rest: at(keys, path)})
    return parts


def makers_of_defaults(build, base, used):
    """Paths of integers that are not in `used`, but make the default of a key that is: PixtralVisionConfig.head_dim (transformers 5.24.0: configuration_pixtral.py)."""
    whole = [(path, value) for path, value in leaves_of(base) if is_whole(value) and value > 0]
    makers = []
    for path in (path for path, _ in whole if path in used):
        keys = without(base, path)
        for other, value in whole:
            if other in used or other in makers or other.rpartition(".")[0] != path.rpartition(".")[0]:
                continue
            default, changed_default = (_value_of(build, made, path) for made in (keys, changed(keys, {other: 2 * value})))
            if _Refused not in (default, changed_default) and default != changed_default:
                makers.append(other)
    return makers


def _value_of(build, keys, path):
    try:
        return at(build(keys), path)
    except Exception:  # whatever a configuration class thinks of
        return _Refused


class Defaults:
    """What a configuration class makes of keys that are not there.  `build(keys)` gives all keys as the class understands them; `names` is {path: path of the field that is meant}; `older` are keys that it takes
    besides, and may take for others, as BLOOM's n_embed; `usual` is {path: what the model's code takes of a key that is not there and that the class makes nothing of}, `undeclared` the same of keys that the class does not know of, as text (config_keys.py)."""

    def __init__(self, build, draws, names, older=(), usual=None, undeclared=None):
        self.build, self.draws, self.names, self.older, self.usual, self.undeclared = build, draws, names, older, usual or {}, undeclared or {}

    def _built(self, keys, path):
        return _value_of(self.build, keys, path)

    def line(self, path, names):
        """The header's line of a key; `names` are whole-numbered keys that a default may be made of."""
        if path in self.undeclared:
            return f"{path} = {self.undeclared[path]}; null"
        absent = [self._built(without(draw, path), path) for draw in self.draws]
        text = self._default(path, absent, names)
        null = [self._built(changed(draw, {path: None}), path) for draw in self.draws]
        line = f"{path} = {text}"
        if null == absent and absent[0] is not None:
            line += "; null"
        others = self.others(path)
        return line + (f"; also {' '.join(others)}" if others else "")

    def _default(self, path, absent, names):
        first = absent[0] if absent[0] is not None else self.usual.get(path)
        if first is _Refused:
            return written(self.usual[path] if path in self.usual else self._of_class(path))
        if all(value == absent[0] for value in absent):
            return written(first)
        if all(is_whole(value) for value in absent):
            found = Solver([{n: at(draw, n) for n in names} for draw in self.draws])(tuple(absent))
            if found:
                return found
        return written(self._of_class(path))

    def _of_class(self, path):
        """The value of a class whose parts are of the model types of the draws (transformers 5.24.0: InstructBLIP of a Llama)."""
        kinds = {part: kind for part, kind in kinds_of(self.draws[0]) if part != path}
        value = self._built(changed({}, kinds), path)
        return at(self.build({}), path) if value is _Refused else value

    def others(self, path):
        """Other paths at which transformers takes the same: older spellings, and keys that stood at the top before there were parts."""
        *above, last = path.split(".")
        value = at(self.draws[0], path)
        candidates = [last] if above else []
        if above and above[-1] in ROTATIONS:
            candidates = [".".join([*above[:-1], "rope_scaling", last]), *([".".join([*above[:-1], "rope_scaling", "type"])] if last == "rope_type" else [])]
            candidates += [flat for flat in (f"rope_scaling.{last}", "rope_scaling.type") if len(above) > 1 and self._takes_flat(path, flat, value)]
            candidates += [".".join([*above[:-1], beside]) for beside in (last, *self.older)]  # as files had it before there were rope_parameters
            candidates += [last] if len(above) > 1 else []  # or at the top, before there were parts, too: GLM-4.1V
        candidates += [old for old, new in self.names.items() if new == path]
        candidates += [old for old in self.older if old != path and not above and is_whole(value)]
        return [other for other in dict.fromkeys(candidates) if other != path and self._takes(path, other, value)]

    def _takes_flat(self, path, other, value):
        """Whether the text part's rope_scaling may stand at the top, as in the files of Qwen2-VL."""
        name, is_type = other.rpartition(".")[2], path.endswith("rope_type")
        if not is_type:
            return name != "type" and self._built({"rope_scaling": {"type": "default", name: value}}, path) == value != self._built({}, path)
        return self._built({"rope_scaling": {name: "linear", "factor": 2.0}}, path) == "linear"

    def _takes(self, path, other, value):
        if ".rope_scaling." in f".{other}" or other.startswith("rope_scaling."):
            return True  # transformers/modeling_rope_utils.py, RotaryEmbeddingConfigMixin.convert_rope_params_to_dict
        keys = without(self.draws[0], path)
        above = path.split(".")[0]
        is_beside = other.rpartition(".")[0] == path.rpartition(".")[0]
        if "." in path and above in keys and not is_beside:
            keys.pop(above)
        absent = self._built(keys, path)
        if value == absent and is_whole(value):  # what nobody says tells nothing
            value *= 2
        elif value == absent and isinstance(value, float):
            value /= 2
        return self._built(changed(keys, {other: value}), path) == value != absent


class _Refused:
    pass
