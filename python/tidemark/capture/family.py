"""One program for every size of a family: captured at configurations whose sizes all differ, and solved over their keys.

A family has several main bodies: one for each way in which it runs (attention, cache) and each case that its sizes make (texts longer than a window; as many heads of
keys as of queries).  They share the modules, and the bodies that are alike.
"""

import dataclasses
import functools
import itertools
import re

import torch

from . import config_keys, factors
from .autocast import IN_FLOAT32, KINDS, OF, Dtypes, as_without, minds
from .axes import Axes
from .batches import Shape, guards_of_frames, has_one_beside, heard, names_of_frames, writes_a_target
from .bodies import Bodies
from .cases import Way, cases_of
from .dtypes import follow
from .experts import WAYS, chooses, shares_of, unevenly, unlike
from .floats import without_floats
from .folding import fold
from .generation import DECODE, PHASES
from .header import MERGES, Header, sees, width_of
from .keys import at, changed, is_whole, leaves_of, share_of, window_beside, without_names_of_labels, written
from .layers import FEWEST_ROUNDS, Layers
from .merging import Differs, Merger, merged_lines
from .mistakes import Unsupported, with_room
from .models import CONTRASTIVE, FEATURES, class_of, from_configuration
from .orders import by_kind, goes_without
from .positions import with_positions
from .program import Again, _called, _one
from .reads import Reads, reading
from .rows import Uneven, in_rows
from .sizes import Solver
from .text import Printer, family_text
from .tree import tree_lines
from .unwritten import keys_of, paths_of
from .windows import names_of, windows_of

# Samples, tokens, images of a sample, patches down and across.
_SHAPES = ((2, 96, 3, 8, 12), (3, 149, 2, 4, 6), (5, 203, 1, 12, 4), (4, 307, 3, 6, 10), (7, 251, 2, 10, 8), (6, 181, 1, 4, 14))
# As many samples as make a row (rows.py) and are told from the few numbers of other lists, of models that do something for each of them.
_MANY = tuple((samples, *rest) for samples, (_, *rest) in zip((8, 9, 13, 10, 12, 11), _SHAPES))
# As many samples, and images of each, that what is done for them is seen as rounds, and rounds within rounds.
_ROUNDS = ((6, 303, 10, 4, 10), (10, 349, 6, 6, 14), (7, 403, 11, 8, 10), (11, 307, 7, 6, 12), (8, 451, 12, 4, 12), (9, 381, 6, 8, 14))
# Fewer, of models with many layers (those that a list has by number are far apart), but more than the four features that some have of each image; of several windows each, down and across (windows.py).
_FEWER = ((7, 303, 8, 12, 20), (8, 349, 7, 10, 12), (9, 403, 7, 16, 20), (7, 307, 9, 12, 24), (8, 451, 8, 18, 28), (10, 381, 7, 8, 20))
_MORE = 400  # tokens, so that what is done for each chunk of a text is seen as rounds
_TEXT_CHUNK = 64  # of linear attention without kernels of its own (transformers 5.23.0: modeling_qwen3_next.py, torch_chunk_gated_delta_rule)
_HEADS = re.compile(r"(?:^|(?<=\.))(num_attention_heads|n_head)$")
_GELUS = (("GELUTanh", "GELUActivation"), (', approximate="tanh"', ""))  # the same kernels' sizes: torch.nn.functional.gelu
_INNER = re.compile(r"(^|\.)(n_inner|intermediate_size)$")
_LABELS = 6


@dataclasses.dataclass(eq=False)
class Look:
    """What the capture of one configuration does."""

    body: object
    wide: object  # the body with layers in rows, when it is asked for
    tree: list
    exact: str
    classes: frozenset  # of modules, by name
    tokens: int  # with those of its images

    def is_alike(self, other):
        try:
            merged_lines([self.tree, other.tree], lambda values: "0")
        except Differs:
            return False
        return self.does_as(other, Merger)

    def does_as(self, other, merger):
        """Whether both are one for such a merger."""
        return _are_one(self.body, other.body, merger) or _are_one(self.wide(), other.wide(), merger)


class Family:
    def __init__(self, keys, device, published=None, held=(), head=None, positions=False, sees=True, way=None, flags=(), is_rare=False):
        """`way`: those of its keys that say in which of several ways the family is built; `published`: {path of a number of layers: those that models have}, where they are in no whole rounds of their kinds; `held`: paths of keys that the program is to hold for one value of, and conditions of the cases that it is to have alone;
        `head`: what it is trained for, where that is not the usual; `positions`: also as GPUs run it that share the tokens of each sample, and with padding; `sees`: with images, where it takes some; `flags`: [{path: value}] that say that the model does more; `is_rare`: its experts are run in the usual way alone."""
        import transformers

        self.kind, self.device, self.layers, self.sees, self.sees_images = keys["model_type"], device, None, sees, sees
        self.flags, self.is_rare = flags, is_rare
        self.held, self.alone = [path for path in held if " " not in path], [path for path in held if " " in path]
        self.config_class = transformers.models.auto.configuration_auto.CONFIG_MAPPING[self.kind]
        self.defaults = self.config_class().to_dict()
        self.head = head or self._head()
        self.trained_for = class_of(self.configuration(keys), keys, self.head, self.kind)[1]
        self.tells_apart = self.trained_for.endswith("CLASSIFICATION")
        self.unwritten = dict(paths_of(self.configuration(keys)))
        self.undeclared = config_keys.undeclared(self.config_class)
        keys = changed(keys, {path: shares for path, text in self.undeclared.items() if path not in self.held and (shares := share_of(text, keys)) is not None})
        self.asked = ["pad_token_id"] if self.head == "sequence_classification" else []  # where there is none, the last token is scored (transformers/modeling_layers.py)
        self.guards = [f"{path} >= 0" for path in self.asked]
        if self.trained_for in (CONTRASTIVE, FEATURES):
            self._of_captions(keys)
        unsaid = [path for path in self.undeclared if at(keys, path) is None]  # nothing that a size follows
        self.asked += unsaid
        self.guards += [f"{path} == {self.undeclared[path]}" for path in unsaid]
        self.held = [path for path in self.held if path not in unsaid]  # which a guard does
        self.layers = Layers(self.build({**without_names_of_labels(keys), "num_labels": _LABELS} if self.tells_apart else keys), self.build(way or {}), published, self.held)
        inner = {path: 4 * at(self.layers.keys, width_of(path)) for path, value in leaves_of(self.layers.keys) if _INNER.search(path) and value is None and at(self.layers.keys, width_of(path))}
        self.base = changed(self.layers.keys, inner)
        cached = any("use_cache" in part for part in (self.base, self.base.get("text_config") or {}))
        experts = self._ways_of_experts()[: 1 if is_rare else None]
        ways = [Way(attention, cache, experts=how) for how in experts for attention in ("sdpa", "eager") for cache in ((True, False) if cached else (None,))]
        if self.trained_for in PHASES:
            how = "batched_mm" if (self.trained_for, experts[0]) == (DECODE, "grouped_mm") else experts[0]  # transformers 5.24.0: generation/utils.py, _optimize_model_for_decode
            ways = [way._replace(experts=how) for way in ways if way.cache is not False and way.experts == experts[0]]
        ways += [way._replace(positions=True) for way in ways if positions and way.attention == "sdpa" and way.experts == experts[0]]
        if positions:
            ways = [way._replace(padding=False) for way in ways] + [way._replace(padding=True) for way in ways if not way.positions and way.experts == experts[0]]
        self.by_chance = None
        self.looks, self.reads, self.few, self.dtypes, self.minded, self.has_grids, self.has_windows = {}, Reads(), {}, None, set(), False, False
        for way in ways:
            if self.looks and self.trained_for in PHASES:  # the usual way alone
                break
            try:
                self.looks[way] = self.look(self.base, way)
                self._read(way)
            except Exception as error:  # whatever a model that does not run so raises
                self.refusal = error
        if not self.looks:
            raise self.refusal
        self.usual = next(iter(self.looks))
        self._with_one_round_more()
        self.inner = [path for path in inner if self.look(changed(self.base, {path: None})).exact == self.look(self.base).exact]
        self.base = changed(self.base, {path: None for path in inner if path not in self.inner})
        self.few = self._few()

    def _of_captions(self, keys):
        """No caption is longer than there are positions; old files say that a text ends with 2, and do not mean it (transformers/models/clip/modeling_clip.py)."""
        made, text = self.build(keys), "text_config." if "text_config" in keys else ""
        if at(made, f"{text}max_position_embeddings") is not None:
            self.asked.append(f"{text}max_position_embeddings")
            self.guards.append(f"S <= {text}max_position_embeddings")
        if at(made, "vision_config.vision_use_head") is not None:  # without it images are not told from each other
            self.asked.append("vision_config.vision_use_head")
            self.guards.append("vision_config.vision_use_head == true")
        if self.kind in ("clip", "clip_text_model"):
            self.asked.append(f"{text}eos_token_id")
            self.guards.append(f"{text}eos_token_id {'==' if at(made, f'{text}eos_token_id') == 2 else '!='} 2")

    def _with_one_round_more(self):
        """Of layers whose last round is not done as those before it: one more, so that these are seen as rounds (transformers 5.24.0: configuration_gemma4.py, kv_sharing_modes: the last layer of each kind keeps its keys and values)."""
        for path, count in self.layers.more_rounds(self.base, lambda keys, other: self.look(keys).is_alike(self.look(other))):
            self.base = changed(self.base, {path: count})
            self.looks = {way: self.look(self.base, way) for way in self.looks}
            self.guards.append(f"{path} >= {count - (FEWEST_ROUNDS - 1) * self.layers.counts[path]}")

    def _read(self, way):
        """Notes which keys the model asks for."""
        with reading() as built:
            self.config_class(**self._own(self._whole(self.base)))
        with reading() as all_read:
            self.capture(self.base, way, _SHAPES[0], is_warm=False)
        self.reads.add(all_read, built, times=2)  # a source builds one, and the model another

    def _few(self):
        """Numbers of layers that are enough to see what other keys do: nothing but a number of layers is lost with the others."""
        few = self.layers.few()
        try:
            seen = self.look(changed(self.base, few))
        except Exception:  # whatever a model of such a configuration raises
            return {}
        return few if seen.classes == self.looks[self.usual].classes else {}

    def brief(self, keys, way=None, grid=_SHAPES[0][3:]):
        return self.look(changed(keys, {path: count for path, count in self.few.items() if at(keys, path) == at(self.base, path)}), way, grid)

    def _is_read(self, path):
        """Whether the model asks for a key, or others are made of it."""
        return path in self.unwritten or self.reads.of(self.config_class(**self._own(self._whole(self.base))), path) or self._makes_others(path)

    def _makes_others(self, path):
        value = at(self.base, path)
        other = not value if isinstance(value, bool) else value * 2 or 1 if is_whole(value) else 16 if value is None else value / 2 or 0.1 if isinstance(value, float) else value
        window = window_beside(self.base, path)
        try:
            made, first = (self.build(changed(self.base, {path: v, **window})) for v in (other, value))
        except Exception:  # whatever a configuration class thinks of
            return True
        return changed(made, {path: value}) != changed(first, {path: value})

    def _is_chosen(self, path, kind):
        """Whether the class takes the kind of a part from the configuration: files of old releases say what nobody reads (Idefics 3's parts: `idefics3`)."""
        try:
            return at(self.build(changed(self.base, {path: "gpt2" if kind == "llama" else "llama"})), path) != kind
        except Exception:  # whatever a configuration class thinks of
            return True

    @staticmethod
    def _own(keys):
        return {key: value for key, value in keys.items() if key != "model_type"}

    def configuration(self, keys):
        import transformers

        return transformers.AutoConfig.for_model(**{**self._whole(keys), "model_type": self.kind})

    def _whole(self, keys):
        return factors.with_factors(self.layers.with_numbers(keys) if self.layers else keys, self.defaults)

    def build(self, keys):
        """All keys, as the configuration class understands these."""
        config = self.configuration(keys)
        made = keys_of(config, keys)
        if self.tells_apart:  # classes are told by their names
            made = {**without_names_of_labels(made), "num_labels": config.num_labels}
        return made

    def _head(self):
        """Encoders are trained on words that are masked, also where transformers has a class for the next word; None: what transformers.models.auto has first."""
        from transformers.models.auto import modeling_auto

        reads_both_ways = not self.configuration({}).to_dict().get("is_decoder", True)
        return "masked_lm" if reads_both_ways and self.kind in modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES else None

    def _ways_of_experts(self):
        """How experts can be run, the way that transformers takes first; of models that have none, or no choice, nothing that is said."""
        model = from_configuration({**self._whole(self.base), "model_type": self.kind}, self.kind, head=self.head).make(
            torch.bfloat16, self.device
        )  # with the attention that the class has by itself: not all have sdpa (transformers/models/gpt_oss)
        usual = getattr(model.config.get_text_config(), "_experts_implementation", None)
        return (usual, *(how for how in WAYS if how != usual)) if usual and chooses(model) else (None,)

    def source(self, keys, way):
        attention = None if way.attention == "sdpa" and self._mixes else way.attention
        source = from_configuration({**self._whole(keys), "model_type": self.kind}, self.kind, head=self.head, attention=attention, cache=way.cache, experts=way.experts, padded=bool(way.padding))
        return with_positions(source) if way.positions else source

    @functools.cached_property
    def _mixes(self):
        """Whether a part cannot run by sdpa, though what transformers chooses has that in others: then it cannot be asked for (transformers/models/got_ocr2)."""
        keys = {**self._whole(self.base), "model_type": self.kind}
        try:
            from_configuration(keys, self.kind, head=self.head, attention="sdpa").make(torch.bfloat16, self.device)
        except ValueError:
            return from_configuration(keys, self.kind, head=self.head).make(torch.bfloat16, self.device).config.get_text_config()._attn_implementation == "sdpa"
        return False

    def ready(self, source, model, sizes, first=_called):
        """The model after what is done first, and the point of that: with as many tokens as its images take."""
        samples, tokens, images, *grid = sizes
        tokens, images = heard(model.config, tokens), 1 if has_one_beside(model) else images

        def at_length(more):
            target = _target_of(tokens) if writes_a_target(model.config) and self.trained_for != "SPEECH_SEQ_2_SEQ" else 0
            point = Shape(samples, tokens + more, images if self.sees else 0, grid=tuple(grid), target=target)
            return first(source, model, point, self.device), point

        return with_room(at_length)

    def capture(self, keys, way, sizes, dtypes=Dtypes(), is_warm=True):
        """`is_warm`: as it runs the second time, when what is made once is there.  A model that is told of checkpointing runs no layer again."""
        if way.goes_through_experts():
            sizes = unevenly(keys, sizes)
        source = self.source(keys, way)
        again = Again(source, self.device, dtypes.weights)
        if way.checkpointing:
            _tell_of_checkpointing(again.model)
        orders = self.layers.orders_of(keys)
        tree = tree_lines(again.model, dtypes.weights, self.device, orders)
        _, point = self.ready(source, again.model, sizes, _called if is_warm else _batch_fits)
        recorder = again.one(point, dtypes) if is_warm else _one(source, again.model, point, self.device, dtypes)
        recorder.tree, recorder.windows, recorder.orders = tree, windows_of(keys, recorder.sizes), orders
        recorder.shares = shares_of(keys, recorder.sizes) if way.goes_through_experts() else None
        return recorder

    def look(self, keys, way=None, grid=_SHAPES[0][3:]):
        recorder = self.capture(keys, way or self.usual, (*_SHAPES[0][:3], *grid), is_warm=False)
        self.by_chance = recorder.by_chance if self.by_chance is None else self.by_chance  # of the base, whose header says so: what others draw they do otherwise
        self.has_grids |= {"S", "grid_h"} <= set(recorder.sizes)
        self.sees_images &= sees(recorder)
        self.has_windows |= recorder.windows is not None
        body, printer = _body(recorder), Printer()
        printer.name(body)
        exact = functools.reduce(lambda text, pair: text.replace(*pair), _GELUS, without_floats("\n".join([*recorder.tree, *printer.out, *sorted(recorder.by_chance - self.by_chance)])))
        return Look(body, functools.cache(lambda: _body(recorder, self._layers_of(keys))), recorder.tree, exact, frozenset(printer.counts), recorder.sizes.get("S", _SHAPES[0][1]))

    @property
    def tokens(self):
        """Of a look at the usual configuration."""
        return self.looks[self.usual].tokens

    def _asks_for_gradients(self, told):
        """How often a model that is told of checkpointing, or is not, asks for gradients; None where it does not run so (modeling_pi0.py: it needs a cache, which checkpointing leaves out)."""
        way = next((way for way in self.looks if not way.cache and not way.positions), self.usual)
        try:
            return self.capture(self.base, way._replace(checkpointing=told), _SHAPES[0], is_warm=False).asks_for_gradients
        except Exception:  # whatever a model that does not run so raises
            return None

    def _ways(self):
        """Also as the model is told of checkpointing, if it minds that, as it does whose values ask for gradients then that else have none (modeling_t5.py: position_bias); it uses no cache then."""
        ways, told, not_told = list(self.looks), self._asks_for_gradients(True), self._asks_for_gradients(False)
        if told is None:
            return [way._replace(checkpointing=False) for way in ways]
        if not told > not_told:
            return ways
        return [way._replace(checkpointing=told) for told in (False, True) for way in ways if not told or not (way.cache or way.positions)]

    def _layers_of(self, keys):
        return [at(keys, path) for path in self.layers.counts]

    def runs(self, keys):
        try:
            source = self.source(keys, self.usual)
            self.ready(source, source.make(torch.bfloat16, self.device), _SHAPES[0])
        except Exception:  # whatever a model of such a configuration raises
            return False
        return True

    def head_guards(self):
        """Attention pads heads that are no multiple of 8, and does not share those that are wider than 256 (torch's sdp_utils.cpp, transformers/integrations/sdpa_attention.py)."""
        for path in [p for p, v in leaves_of(self.base) if _HEADS.search(p) and is_whole(v)]:
            own, width, heads = _HEADS.sub("head_dim", path), _HEADS.sub("hidden_size", path), at(self.base, path)
            if at(self.base, width) is None:
                width = _HEADS.sub("n_embd", path)
            name = own if is_whole(at(self.base, own)) else f"{width}//{path}"
            for size, bound in ((1, "> 1"), (12, "% 8 == 0"), (264, "<= 256")):
                try:
                    alike = self.brief(changed(self.base, {own: size} if name == own else self._as_wide(width, heads * size))).is_alike(self.brief(self.base))
                except Exception:  # whatever a model of such a configuration raises
                    continue
                if not alike:
                    yield f"{name} {bound}"

    def _as_wide(self, width, value):
        """The width, and those of other parts where these have to be as wide."""
        if self.runs(changed(self.base, {width: value})):
            return {width: value}
        return {width: value, **{p: value for p, v in leaves_of(self.base) if is_whole(v) and v == at(self.base, width) and p.endswith("hidden_size")}}

    def _narrow(self):
        """Conditions on images of one token across, or down, where they go another way: what is permuted is a view then (transformers/models/paddleocr_vl, PaddleOCRProjector)."""
        for path, merged in [(p, v) for p, v in leaves_of(self.base) if p.endswith(MERGES) and is_whole(v)][:1]:
            for side, narrow, wider in (("grid_h", (merged, 4 * merged), (2 * merged, 4 * merged)), ("grid_w", (4 * merged, merged), (4 * merged, 2 * merged))):
                if not self.brief(self.base, grid=narrow).is_alike(self.brief(self.base, grid=wider)):
                    yield f"{side} > {path}"

    def _needed(self, path):
        """The kinds of layers without which more is done otherwise, or that a model has to have."""
        kinds, entries, body = self.layers.orders[path][0], at(self.base, path), self.look(self.base).body
        for kind, other in zip(kinds, [*kinds[1:], kinds[0]]):
            try:
                seen = self.look(changed(self.base, {path: [other if entry == kind else entry for entry in entries]}))
                if goes_without(kind, body, seen.body):
                    continue
            except Exception:  # whatever a model of such a configuration raises
                pass
            yield kind

    def text(self):
        cases = cases_of(self)
        self.layers.needed = {path: list(self._needed(path)) for path in self.layers.orders}
        self.guards = [*self.head_guards(), *guards_of_frames(self.configuration(self.base)), *(["num_labels > 1"] if self.tells_apart else []), *self.guards]  # one is a number to come near to (transformers/loss/loss_utils.py)
        self.guards += self._narrow() if self.has_grids and not self.has_windows else []
        beside = [functools.partial(self.look, way=way) for way in self.looks if way.attention != self.usual.attention][:1]
        self.axes = Axes(self.base, self.look, self.runs, self.layers.counts, self.few, self._is_read, self.held, self._is_chosen, beside, self.layers.places, self.layers.orders)
        self.shapes = (_FEWER if self.has_windows or self.layers.places else _ROUNDS) if self.has_grids else _SHAPES
        self.draws, self.attempts = self.axes.draws(len(self.shapes), seed=7), self._attempts()
        self.asked += factors.paths_of(self.base)
        self.guards += factors.conditions(self.base, self.defaults, self.draws)
        without, shared = [], {}
        merged = self._all(itertools.product(self._ways(), cases), without, shared)
        if merged and self.minded:
            merged = self._with_those_of_autocast(merged, without, shared)
        if not merged:
            raise Unsupported("; ".join(without))
        return self._written(merged, without)

    def _all(self, ways, without, shared, others=()):
        """[(way, case, main body, numbers that are left, captures)] of those that are one program each; why it is not told in `without`.  `others`: such that are there."""
        merged = list(others)
        for way, case in ways:
            if case.flags and way.experts != self.usual.experts:  # two rare things at once
                continue
            try:
                solved = self._solved(way, case, shared)
                if solved[1]:
                    raise Unsupported(f"{solved[1]} numbers that are not solved")
                if merged and _classes(solved[2][0].tree) != _classes(merged[0][-1][0].tree):
                    raise Unsupported("other classes of modules")
                merged.append((way, case, *solved))
            except Exception as error:  # whatever a model of such a configuration raises, or Differs
                without.append(f"{', '.join([*way.conditions(), *case.conditions])}: {type(error).__name__}: {' '.join(str(error).split())[:200]}")
        return merged

    def _with_those_of_autocast(self, merged, without, shared):
        """What the model does of its own under autocast, beside what is done without it, and under autocast that it does not mind."""
        self.without_autocast = {(way, case): captures for way, case, *_, captures in merged}
        ways, minded = [*self.without_autocast], [kind for kind in KINDS if kind in self.minded]
        merged = [(way._replace(minded=tuple(minded)), *rest) for way, *rest in merged]
        return self._all([(way._replace(autocast=kind), case) for way, case in ways for kind in minded], without, shared, merged)

    def _solved(self, way, case, shared):
        """(main body, numbers that are left, captures)"""
        configurations, why, recorded = [case.keys(keys) for keys in self.draws], [], {}
        for attempt in list(self.attempts):
            shapes, counts_of = attempt
            if shapes not in recorded:
                recorded = {shapes: self._recorded(way, case, configurations, shapes)}
            try:
                found = self._merged(recorded[shapes], map(counts_of, recorded[shapes], configurations), shared)
            except Differs as error:
                why.append(str(error))
                continue
            self.attempts.sort(key=lambda other: other is not attempt)  # other cases are mostly done alike
            return found
        raise Differs("; as rows: ".join(dict.fromkeys(why)))

    def _attempts(self):
        """[(sizes, how often what comes as a row may come in a capture of such a configuration)], beside images."""
        return [
            (self.shapes, lambda recorder, keys: ()),
            (self.shapes, lambda recorder, keys: self._layers_of(keys)),
            (_MANY, lambda recorder, keys: [recorder.sizes["B"]]),
            (tuple((samples, tokens + _MORE, *rest) for samples, tokens, *rest in self.shapes), lambda recorder, keys: [-(-recorder.sizes["S"] // _TEXT_CHUNK)]),
        ]

    def _recorded(self, way, case, configurations, shapes):
        """Captures at these sizes, the first with the dtypes of those in others."""
        shapes = [case.sizes(sizes, keys) for keys, sizes in zip(configurations, shapes)]
        if way.goes_through_experts():
            configurations = [unlike(keys, samples) for keys, (samples, *_) in zip(configurations, shapes)]
        dtypes, *others = OF[way.autocast] if way.autocast else [Dtypes()]
        recorders = [self.capture(keys, way, sizes, dtypes) for keys, sizes in zip(configurations, shapes)]
        for recorder, keys in zip(recorders, configurations):
            recorder.sizes = {**recorder.sizes, **{path: at(keys, path) for path in self.axes.names() if is_whole(at(keys, path))}}
        at_first = configurations[0], way, shapes[0]
        if others:
            follow(recorders[:1], [self.capture(*at_first, dtypes) for dtypes in others])
            as_without(self.without_autocast[way._replace(autocast=None), case], recorders)
        else:
            self._follow(recorders[0], at_first)
        return recorders

    def _merged(self, recorders, counts, shared):
        """`counts`: how often what comes as a row may come, beside images."""
        made = names_of([r.windows for r in recorders]) | names_of_frames(self.configuration(self.base), [r.sizes.get("S") for r in recorders])
        if all(r.shares for r in recorders):
            made |= {text: tuple(r.shares.first()[text] for r in recorders) for text in recorders[0].shares.first()}
        merger = Merger(Solver([r.sizes for r in recorders], self.layers.periods(), made), shared)
        return merger.body(tuple(_body(r, more) for r, more in zip(recorders, counts))), merger.unsolved, recorders

    def _follow(self, first, at_first):
        """Of a capture without autocast; notes which kinds of that the model minds."""
        in_float32, under = self.capture(*at_first, IN_FLOAT32), {}
        for kind in KINDS:
            try:
                under[kind] = self.capture(*at_first, OF[kind][0])
            except RuntimeError as error:
                self.dtypes = f"it does not run under autocast: {' '.join(str(error).split())[:120]}"
        self.minded |= {kind for kind in KINDS if kind not in under or minds(first if kind == "own" else in_float32, under[kind])}
        half = self._of_half(*at_first) if "other" in under else ()
        follow([first], [in_float32, *half, *(under.values() or [in_float32])])

    def _of_half(self, keys, way, sizes):
        """Of images that a tower in float32 is given in half of that, as those are that are prepared for quantized weights (peft, prepare_model_for_kbit_training)."""
        if not self.sees_images:
            return ()
        try:
            return (self.capture(keys, way, sizes, Dtypes(torch.float32, images=torch.bfloat16)),)
        except RuntimeError:  # whatever a layer that is not given its own dtype raises
            self.sees_images = False
            return ()

    def _tree(self, merged):
        """(lines, flags that tie parameters, conditions on flags that do more)"""
        recorders = [r for *_, captures in merged for r in captures]
        tree, ties, guards = merged_lines([r.tree for r in recorders], Solver(_common([r.sizes for r in recorders]), self.layers.periods())), [], []
        way, case, *_, captures = merged[0]
        solve = Solver([r.sizes for r in captures], self.layers.periods())
        own = merged_lines([r.tree for r in captures], solve)
        for path, value in [(p, v) for p, v in leaves_of(self.base) if p.endswith("tie_word_embeddings")]:
            try:
                models = [self.source(changed(case.keys(keys), {path: not value}), way).make(torch.bfloat16, self.device) for keys in self.draws]
                other = merged_lines([tree_lines(model, torch.bfloat16, self.device, self.layers.orders_of(keys)) for model, keys in zip(models, self.draws)], solve)
            except Exception:  # whatever a model of such a configuration raises
                other = None
            if other == own:
                continue
            both = _either(own, other, " or ".join([*ties, path])) if other and tree == (_either(own, other, " or ".join(ties)) if ties else own) else None
            tree, used = (both, ties) if both else (tree, guards)
            used.append(path if both else f"{path} == {written(value)}")
        return tree, ties, guards

    def _written(self, merged, without):
        tree, ties, tie_guards = self._tree(merged)
        header = Header(self, merged, ties, tie_guards)
        with_positions_first = sorted(zip(header.mains, merged), key=lambda one: not one[1][0].positions)
        return family_text(header.lines(without), tree, [(main, root) for main, (_, _, root, *_) in with_positions_first])


def _target_of(tokens):
    """Tokens of a label beside so many of a text: in no proportion to them, so that captures distinguish both."""
    return 5 * tokens % 127 + 60


def _body(recorder, more=()):
    """`more`: how many layers, or samples, there are, where what is done for each is to be looked at as rows."""
    counts, samples = [recorder.sizes.get("images", 0), *more], []
    if {"S", "grid_h"} <= set(recorder.sizes):  # of texts with images of any size: rounds of samples hold those of their images
        counts, samples = [counts[0], counts[0] // recorder.sizes["B"], *more], [recorder.sizes["B"]]
    uneven = Uneven(recorder.windows, recorder.shares)
    counts = [*counts, *(one.rounds() for one in uneven.rounds)]
    return Bodies(recorder, lambda statements: fold(by_kind(statements, recorder.orders)), lambda statements: in_rows(statements, counts, samples, uneven)).of(recorder.root)


def _classes(tree):
    """The lines of a tree with what sizes may change left out."""
    return {re.sub(r"\d+", "0", line) for line in tree}


def _are_one(body, other, merger):
    try:
        merger(lambda values: "0").body((body, other))
    except Differs:
        return False
    return True


def _tell_of_checkpointing(model):
    """What gradient_checkpointing_enable tells modules; layers are called as ever (transformers/modeling_layers.py, GradientCheckpointingLayer)."""
    from transformers.modeling_layers import GradientCheckpointingLayer

    for module in model.modules():
        if hasattr(module, "gradient_checkpointing") and not isinstance(module, GradientCheckpointingLayer):
            module.gradient_checkpointing, module._gradient_checkpointing_func = True, lambda call, *args, **kwargs: call(*args, **kwargs)


def _batch_fits(source, model, point, device):
    """The model as it is, where its images have room in a text of this length."""
    with torch.no_grad():
        source.batch(model, point, device)
    return model


def _common(points):
    """The names that are numbers at all of them."""
    names = set.intersection(*map(set, points))
    return [{name: value for name, value in point.items() if name in names} for point in points]


def _either(lines, others, path):
    """Both of two trees that differ in what is tied; None where they differ in more."""
    if len(lines) != len(others):
        return None
    both = []
    for line, other in zip(lines, others):
        tied, free = (line, other) if " = " in line else (other, line)
        if line != other and not (" = " in tied and ": " in free and tied.split(" = ")[0] == free.split(": ")[0]):
            return None
        both.append(line if line == other else f"{free} = {tied.split(' = ')[1]} when {path}")
    return both
