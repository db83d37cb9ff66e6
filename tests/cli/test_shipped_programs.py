"""Programs of whole families, as they are shipped: bound to a configuration without Python."""

import json
from pathlib import Path

import pytest

SHIPPED = Path(__file__).resolve().parents[2] / "data" / "programs"
ASKED = ("--batch", 2, "--seq", 64, "--gpu", "h200", "--torch", "2.11.0")
NO_PYTHON = {"PATH": "/usr/bin:/bin", "VIRTUAL_ENV": "", "CONDA_PREFIX": ""}
GRANITE = {"model_type": "granite", "hidden_size": 96, "intermediate_size": 200, "num_hidden_layers": 3, "num_attention_heads": 6, "num_key_value_heads": 2, "vocab_size": 500}


@pytest.fixture
def predicted(tidemark, folders):
    """predicted(config, *options) -> the report, or what was said in its place."""

    def run(config, *options, **environment):
        (folders / "work" / "config.json").write_text(json.dumps(config))
        has_own = config["model_type"] == "resnet" or "--seq" in options  # which takes no text
        asked = (*ASKED[:2], *ASKED[4:]) if has_own else ASKED
        done = tidemark("predict", "config.json", *asked, *options, "--json", "report.json", **environment)
        return json.loads((folders / "work" / "report.json").read_text()) if done.returncode in (0, 1) else done

    return run


def answer(report):
    return report["peak"], report["steps"]


def test_a_family_needs_no_python(predicted):
    report = predicted(GRANITE, **NO_PYTHON)
    assert any("the model is a program, captured of transformers" in row["what"] for row in report["assumptions"])
    larger = predicted({**GRANITE, "num_hidden_layers": 4}, **NO_PYTHON)
    assert larger["peak"]["allocated_bytes"] > report["peak"]["allocated_bytes"]


def test_a_text_is_written_out_chunk_by_chunk_and_kernels_that_would_take_their_place_are_named(predicted):
    model = {"model_type": "qwen3_5_text", "num_hidden_layers": 4, "hidden_size": 256, "intermediate_size": 512, "vocab_size": 500}
    one, whole, more = (predicted(model, "--seq", seq, **NO_PYTHON) for seq in (64, 128, 129))
    assert any("kernels of causal_conv1d, fla" in row["what"] for row in one["assumptions"])
    assert one["peak"]["allocated_bytes"] < whole["peak"]["allocated_bytes"] < more["peak"]["allocated_bytes"]


@pytest.mark.parametrize("model_type, usual", [("stablelm", 0.25), ("phi", 0.5), ("qwen3_next", 0.25)])
def test_how_much_is_rotated_is_read_where_older_files_have_it(predicted, model_type, usual):
    refused = predicted({"model_type": model_type, "partial_rotary_factor": 0.4}, **NO_PYTHON)
    assert refused.returncode == 3 and f"rope_parameters.partial_rotary_factor == {usual} alone" in refused.stderr
    said, unsaid = (predicted({"model_type": model_type, **keys}, "--memory", "4000GB", **NO_PYTHON) for keys in ({"partial_rotary_factor": usual}, {}))
    assert said["peak"] == unsaid["peak"]


def test_texts_keys_may_stand_at_the_top_of_glm_s_files_where_that_release_reads_them_there(predicted):
    text = {
        "hidden_size": 4096,
        "intermediate_size": 300,
        "num_hidden_layers": 2,
        "num_attention_heads": 32,
        "num_key_value_heads": 1,
        "vocab_size": 400,
        "partial_rotary_factor": 0.5,
        "rope_scaling": {"type": "default", "mrope_section": [8, 12, 12]},
    }
    whole = {"model_type": "glm4v", "vision_config": {"depth": 2, "hidden_size": 1536, "num_heads": 12, "intermediate_size": 13696, "out_hidden_size": 4096}}
    options = ("--images", 1, "--image-size", "112x168", "--seq", 96, "--transformers", "5.17.0")
    flat, nested = (predicted({**whole, **keys}, *options, **NO_PYTHON) for keys in (text, {"text_config": text}))
    assert answer(flat) == answer(nested)


def test_a_cap_on_logits_that_there_is_none_of_is_another_model(predicted):
    gemma = {"model_type": "gemma2", "num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 500}
    program = ("--program", SHIPPED / "5.23.0/gemma2")
    assert "peak" in predicted(gemma, *program, **NO_PYTHON)
    refused = predicted({**gemma, "final_logit_softcapping": None}, *program, **NO_PYTHON)
    assert refused.returncode == 3 and "final_logit_softcapping > 0.0 alone, and final_logit_softcapping is null" in refused.stderr


def told_of(report):
    return [row["what"] for row in report["assumptions"] if "transformers" in row["what"]]


def test_more_images_than_tokens_are_refused_before_they_are_counted(predicted):
    refused = predicted({"model_type": "llava"}, "--images", 65536, **NO_PYTHON)
    assert refused.returncode == 2 and "65536 images are more than the 64 tokens of a sample" in refused.stderr


def test_numbers_that_pytorch_stops_at_are_said(predicted):
    refused = predicted({**GRANITE, "intermediate_size": 0}, **NO_PYTHON)
    assert refused.returncode == 2 and "with these numbers PyTorch stops at" in refused.stderr


def test_what_was_found_not_to_be_equal_is_told(predicted, folders):
    program = folders / "work" / "granite"
    program.write_text((SHIPPED / "5.23.0" / "granite").read_text().replace("class GraniteForCausalLM\n", "class GraniteForCausalLM\ndiffers full, autocast\n"))
    told = told_of(predicted(GRANITE, "--program", "granite", "--transformers", "5.23.0", **NO_PYTHON))
    assert told == ["the model is a program, captured of transformers 5.23.0 with torch 2.15.0; trainings of granite were not equal to what is predicted of it (full, autocast)"]


def test_classes_to_wrap(predicted, folders):
    """By name: those that are named, and else the layers; in a trainer's file, too."""
    sharded = ["--gpus", 2, "--parallel", "fsdp2", "--load", "wrapped"]
    wrap = "--fsdp2-transformer-layer-cls-to-wrap"
    steps = [predicted(GRANITE, *sharded, *more, **NO_PYTHON)["steps"] for more in ([], [wrap, "GraniteDecoderLayer"], [wrap, "GraniteMLP"], [wrap, "GraniteMLP,GraniteAttention"])]
    assert steps[0] == steps[1] and len({json.dumps(one) for one in steps}) == 3
    refused = predicted(GRANITE, *sharded, wrap, "GraniteDecoderLayer,CLIPEncoderLayer", **NO_PYTHON)
    assert refused.returncode != 0 and "no module of the class CLIPEncoderLayer" in refused.stderr
    settings = {"per_device_train_batch_size": 1, "bf16": True, "fsdp": True, "fsdp_config": {"version": 2}, "max_grad_norm": 1.0}
    files = {name: {**settings, "fsdp_config": {"version": 2, **more}} for name, more in {"layers": {}, "mlp": {"transformer_layer_cls_to_wrap": ["GraniteMLP"]}, "prefixed": {"fsdp_transformer_layer_cls_to_wrap": "GraniteMLP"}}.items()}
    for name, text in files.items():
        (folders / "work" / f"{name}.json").write_text(json.dumps(text))
    by_file = {name: predicted(GRANITE, "--trainer", f"{name}.json", "--gpus", 2, "--seq", 64, **NO_PYTHON)["steps"] for name in files}
    assert by_file["mlp"] == by_file["prefixed"] != by_file["layers"]


def test_the_program_of_the_nearest_release_answers(predicted):
    llama = {**GRANITE, "model_type": "llama"}
    for release, torch in (("5.17.0", "2.11.0"), ("5.23.0", "2.15.0")):
        assert told_of(predicted(llama, "--transformers", release, **NO_PYTHON)) == [f"the model is a program, captured of transformers {release} with torch {torch}"]
    equal = told_of(predicted(llama, "--transformers", "5.24.0", **NO_PYTHON))
    assert equal == ["the model is a program, captured of transformers 5.23.0 with torch 2.15.0; at the family's default configuration 5.24.0 is equal"]
    newer = told_of(predicted(llama, "--transformers", "5.99.0", **NO_PYTHON))
    assert newer[0] == "transformers 5.99.0 has not been compared with predictions: it is taken for 5.24.0, the newest that has"
    classes = {**llama, "architectures": ["LlamaForSequenceClassification"], "pad_token_id": 0}  # of these 5.17.0 alone has a program
    said = told_of(predicted(classes, "--transformers", "5.23.0", **NO_PYTHON))
    assert said[0] == "transformers 5.23.0 has not been compared with predictions: it is taken for 5.17.0, the newest that has"


@pytest.mark.parametrize("release", ["5.17.0", "5.23.0"])
def test_sizes_that_the_class_does_not_declare_count(predicted, release):
    """Qwen3-30B-A3B has heads of 128 where its width has a share of 64 for each: the code asks for head_dim, which its configuration class does not know of."""
    experts = {
        "model_type": "qwen3_moe",
        "hidden_size": 256,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "num_hidden_layers": 2,
        "num_experts": 4,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 64,
        "vocab_size": 500,
        "norm_topk_prob": True,
    }
    share, wider = (predicted({**experts, **more}, "--transformers", release, **NO_PYTHON) for more in ({"head_dim": 64}, {"head_dim": 128}))
    assert answer(share) == answer(predicted(experts, "--transformers", release, **NO_PYTHON))
    assert wider["peak"]["allocated_bytes"] > share["peak"]["allocated_bytes"]
    other = predicted({"model_type": "olmo2", "hidden_size": 256, "num_attention_heads": 4, "head_dim": 128}, "--transformers", release, **NO_PYTHON)  # nothing that is published is so
    assert other.returncode == 3 and "head_dim == hidden_size//num_attention_heads alone, and head_dim is 128" in other.stderr


def test_a_program_of_another_class_does_not_stand_for_it(tidemark, folders):
    def is_program(config):
        (folders / "work" / "config.json").write_text(json.dumps(config))
        done = tidemark("predict", "config.json", "--batch", 2, "--gpu", "h200", "--transformers", "5.23.0", "--json", "report.json", **NO_PYTHON)
        assert done.returncode == 0, done.stderr
        return any("is a program" in what for what in told_of(json.loads((folders / "work" / "report.json").read_text())))

    picture = {"model_type": "vit", "num_hidden_layers": 2}
    assert is_program(picture)
    assert is_program({**picture, "num_labels": 1000})


def test_images_and_captions_are_what_clip_is_trained_for(predicted):
    """What is shipped of 5.23.0 tells images apart."""
    clip = {"model_type": "clip", "text_config": {"max_position_embeddings": 64}}
    nobody, said = (told_of(predicted({**clip, **more}, "--transformers", "5.23.0", **NO_PYTHON)) for more in ({}, {"architectures": ["CLIPModel"]}))
    assert nobody == said and "the model is a program, captured of transformers 5.17.0 with torch 2.11.0" in said[-1]
    asked = predicted(clip, "--head", "contrastive", **NO_PYTHON)
    assert answer(asked) == answer(predicted(clip, **NO_PYTHON)) == answer(predicted(clip, "--seq", 65, **NO_PYTHON))
    old = {**clip, "text_config": {**clip["text_config"], "eos_token_id": 2}}  # the last of a text is told otherwise
    assert answer(predicted(old, **NO_PYTHON))


def test_a_text_has_one_image_beside_it(predicted):
    blip = {"model_type": "blip"}
    said, unsaid = predicted(blip, "--images", 1, **NO_PYTHON), predicted(blip, **NO_PYTHON)
    assert answer(said) == answer(unsaid)
    refused = predicted(blip, "--images", 2, **NO_PYTHON)
    assert refused.returncode == 2 and "one image per sample, not 2" in refused.stderr


def test_what_makes_no_loss_is_trained_for_the_mean_of_what_it_makes(predicted):
    encoder = {"model_type": "clip_text_model", "architectures": ["CLIPTextModel"]}
    report = predicted(encoder, **NO_PYTHON)
    assert any(row["what"] == "CLIPTextModel makes no loss of its own: that is the mean of its last hidden state" for row in report["assumptions"])
    assert answer(predicted(encoder, "--seq", 78, **NO_PYTHON)) == answer(predicted(encoder, "--seq", 77, **NO_PYTHON))


@pytest.mark.parametrize("model_type, named", [("clip_text_model", lambda end: {"eos_token_id": end}), ("clip", lambda end: {"text_config": {"eos_token_id": end}})])
def test_where_a_caption_ends_is_found_as_old_files_and_new_ones_say(predicted, folders, model_type, named):
    """By the highest of its tokens, or by the one that is said to end it (transformers/models/clip/modeling_clip.py)."""
    events = []
    for end in (2, 49407):
        assert "peak" in predicted({"model_type": model_type, **named(end)}, "--events", "events.txt", **NO_PYTHON)
        events.append([line.split()[1] for line in (folders / "work" / "events.txt").read_text().splitlines()])
    assert events[0] != events[1]


def test_the_stages_of_a_pipeline_have_images_in_the_first(tidemark, folders):
    llava = {"model_type": "llava", "text_config": {"hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4, "vocab_size": 40000, "num_hidden_layers": 4}}
    (folders / "work" / "config.json").write_text(json.dumps(llava))

    def peak(rank):
        words = ("--batch", 2, "--seq", 700, "--images", 1, "--gpu", "h200", "--gpus", 2, "--pp-degree", 2, "--pp-microbatches", 2, "--rank", rank)
        assert tidemark("predict", "config.json", *words, "--json", "report.json", **NO_PYTHON).returncode == 0
        return json.loads((folders / "work" / "report.json").read_text())["peak"]["allocated_bytes"]

    assert peak(0) > 2**31 > peak(1)  # a tower of 300 million weights


def test_older_keys_are_taken(predicted):
    """bigscience/bloom-560m says n_embed and num_attention_heads."""
    sizes = {"model_type": "bloom", "n_layer": 2, "vocab_size": 500}
    for release in ("5.17.0", "5.23.0"):
        now, older = (predicted({**sizes, **said}, "--transformers", release, **NO_PYTHON) for said in ({"hidden_size": 128, "n_head": 16}, {"n_embed": 128, "num_attention_heads": 16}))
        assert answer(now) == answer(older)


def test_what_tells_classes_apart_has_a_program_of_its_own(predicted):
    biogpt = {"model_type": "biogpt", "num_hidden_layers": 2}
    named = predicted({**biogpt, "architectures": ["BioGptForSequenceClassification"]}, **NO_PYTHON)
    asked = predicted(biogpt, "--head", "sequence_classification", **NO_PYTHON)
    assert answer(named) == answer(asked) != answer(predicted(biogpt, **NO_PYTHON))
    more = predicted({**biogpt, "num_labels": 3000}, "--head", "sequence_classification", **NO_PYTHON)
    assert more["peak"]["allocated_bytes"] > asked["peak"]["allocated_bytes"]
    refused = predicted({**biogpt, "pad_token_id": None}, "--head", "sequence_classification", **NO_PYTHON)
    assert refused.returncode == 3 and "holds for pad_token_id >= 0 alone" in refused.stderr


def test_a_family_may_be_of_another_release_and_of_images(predicted):
    report = predicted({"model_type": "resnet"}, **NO_PYTHON)
    assert any("the model is a program, captured of transformers 5.23.0" in row["what"] for row in report["assumptions"])
    labels = [predicted({"model_type": "resnet", **said}, **NO_PYTHON)["steps"] for said in ({"num_labels": 1000}, {"id2label": {str(i): "?" for i in range(1000)}}, {})]
    assert labels[0] == labels[1] != labels[2]
    refused = predicted({"model_type": "resnet", "num_labels": 1}, **NO_PYTHON)
    assert refused.returncode == 3 and "the program of resnet holds for num_labels > 1 alone, and num_labels is 1" in refused.stderr
    refused = predicted({"model_type": "resnet", "embedding_size": 128}, **NO_PYTHON)
    assert refused.returncode == 3 and "cuDNN's scratch memory is not known for a convolution" in refused.stderr


def test_a_family_takes_any_number_of_images_or_sounds(tidemark, folders):
    def asked(model_type, tokens, images, *options):
        (folders / "work" / "config.json").write_text(json.dumps({"model_type": model_type}))
        return tidemark("predict", "config.json", "--batch", 2, "--seq", tokens, "--images", images, "--gpu", "h200", "--memory", "4000GB", "--torch", "2.11.0", *options, "--json", "report.json", **NO_PYTHON)

    for model_type, tokens in (("paligemma", 700), ("qwen2_audio", 2000)):
        peaks = []
        for images in (1, 2):
            assert asked(model_type, tokens, images).returncode == 0
            peaks.append(json.loads((folders / "work" / "report.json").read_text())["peak"]["reserved_bytes"])
        assert peaks[1] > peaks[0], model_type
    refused = asked("paligemma", 700, 1, "--image-size", "448")
    assert refused.returncode == 3 and "paligemma takes images of one size" in refused.stderr and "leave image_size out" in refused.stderr
    assert "images are of 336 x 672 pixels, as nobody said" in asked("llava_next", 4000, 1).stdout  # the first of its pinpoints, of which its tiles are cut
    assert asked("llava_next", 4000, 1, "--image-size", "336x672").returncode == 0
    refused = asked("llava_next", 4000, 1, "--image-size", "336")
    assert refused.returncode == 3 and "the program of llava_next is of images of 336 x 672" in refused.stderr
    assert asked("cohere2_vision", 4000, 1, "--dtype", "fp32", "--autocast", "bf16").returncode == 0


def test_what_a_model_does_of_its_own_under_autocast_is_told(predicted):
    """T5DenseActDense (transformers 5.23.0: modeling_t5.py) casts to the dtype of its weights what is of another: under autocast over float32, and not over bfloat16."""
    config = {"model_type": "t5", "num_layers": 2, "num_decoder_layers": 2}
    kinds = ((), ("--autocast", "bf16"), ("--dtype", "fp32"), ("--dtype", "fp32", "--autocast", "bf16"))
    peaks = [predicted(config, "--optimizer", "sgd", *options, **NO_PYTHON)["peak"]["allocated_bytes"] for options in kinds]
    assert peaks[2] > peaks[3] > peaks[1] >= peaks[0], peaks


def test_a_model_of_images_says_how_to_ask_of_them(predicted):
    refused = predicted({"model_type": "cohere2_vision"}, **NO_PYTHON)
    assert refused.returncode == 3 and "the program of cohere2_vision was captured with images (--images)" in refused.stderr


def test_a_family_may_be_built_in_two_ways(predicted):
    small = {"model_type": "falcon", "hidden_size": 512, "num_attention_heads": 8, "num_hidden_layers": 2, "vocab_size": 500}
    newer = predicted({**small, "new_decoder_architecture": True, "num_kv_heads": 2}, **NO_PYTHON)
    assert newer["peak"]["allocated_bytes"] != predicted(small, **NO_PYTHON)["peak"]["allocated_bytes"]
    refused = predicted({**small, "new_decoder_architecture": True, "bias": True}, **NO_PYTHON)
    assert refused.returncode == 3
    assert "holds for new_decoder_architecture == false alone, and new_decoder_architecture is true; the program of falcon holds for bias == false alone, and bias is true" in refused.stderr


def test_what_is_left_out_is_what_transformers_takes(predicted):
    # GraniteConfig: as many heads of keys as of queries, biases nowhere, hidden_act silu (transformers 5.17.0)
    without = {key: value for key, value in GRANITE.items() if key != "num_key_value_heads"}
    said = {**without, "num_key_value_heads": 6, "hidden_act": "silu", "attention_bias": False, "tie_word_embeddings": False}
    assert answer(predicted(without, **NO_PYTHON)) == answer(predicted(said, **NO_PYTHON)) == answer(predicted({**without, "num_key_value_heads": None}, **NO_PYTHON))


def test_what_a_program_does_not_hold_for_is_said(predicted):
    refused = predicted({**GRANITE, "attention_bias": True}, **NO_PYTHON)
    assert refused.returncode == 3
    assert "the program of granite holds for attention_bias == false alone, and attention_bias is true, and this configuration was not captured: " in refused.stderr
    refused = predicted(GRANITE, "--head", "sequence_classification", **NO_PYTHON)
    assert refused.returncode == 3 and "the program of granite is trained for causal_lm, and this configuration was not captured: " in refused.stderr


@pytest.mark.parametrize(
    ("config", "assumed"),
    [
        ({"model_type": "olmo"}, "a sample has 2048 tokens, as --seq is missing"),
        ({**GRANITE, "max_position_embeddings": 96}, "a sample has 96 tokens, as --seq is missing"),
        ({"model_type": "gpt2"}, "a sample has 1024 tokens, as --seq is missing"),
        ({"model_type": "whisper"}, "a label has 448 tokens, as --target-seq is missing"),
    ],
)
def test_a_length_that_nobody_says_is_an_assumption(tidemark, folders, config, assumed):
    (folders / "work" / "config.json").write_text(json.dumps(config))
    done = tidemark("predict", "config.json", "--gpu", "h200", **NO_PYTHON)
    assert f"assumed: {assumed}" in done.stdout, done.stderr
    assert "seq is missing" not in tidemark("predict", "config.json", "--gpu", "h200", "--seq", "64", **NO_PYTHON).stdout


def test_keys_that_nobody_reads_are_listed_and_mistakes_are_refused(predicted):
    report = predicted({**GRANITE, "hidden_sizes": 100, "n_special": 2, "num_hidden_layer": 9}, **NO_PYTHON)
    assert report["assumptions"][0]["what"] == "config.json: transformers does not read hidden_sizes, n_special, num_hidden_layer, so it changes nothing"
    missing = predicted({"model_type": "granite", "num_hidden_layer": 9}, **NO_PYTHON)
    assert "num_hidden_layer (num_hidden_layers?)" in missing["assumptions"][0]["what"]
    for config, options, said in (
        ({**GRANITE, "num_attention_heads": "six"}, (), 'config.json: num_attention_heads: expected a number, found "six"'),
        ({**GRANITE, "num_hidden_layers": 0}, (), "config.json: num_hidden_layers: expected at least 1, found 0"),
        (GRANITE, ("--images", 1), "images: granite takes none"),
    ):
        refused = predicted(config, *options, **NO_PYTHON)
        assert refused.returncode == 2 and said in refused.stderr
    long = predicted({**GRANITE, "max_position_embeddings": 63}, **NO_PYTHON)
    assert any(row["what"].startswith("64 tokens are more than the 63 positions of the model (max_position_embeddings)") for row in long["assumptions"])


def test_weights_in_a_format_that_is_not_trained_are_refused_of_any_family(predicted):
    refused = predicted({**GRANITE, "quantization_config": {"quant_method": "gptq"}}, **NO_PYTHON)
    assert refused.returncode == 3 and "quantization_config = gptq" in refused.stderr
    for method, config in (("mxfp4", "Mxfp4Config"), ("compressed-tensors", "CompressedTensorsConfig")):
        stored = predicted({**GRANITE, "quantization_config": {"quant_method": method}}, **NO_PYTHON)
        assert any(f"({config}(dequantize=True))" in row["what"] for row in stored["assumptions"])
        assert answer(stored) == answer(predicted(GRANITE, **NO_PYTHON))


def test_what_nobody_reads_and_what_does_not_go_together_is_said(predicted):
    llama = {**GRANITE, "model_type": "llama"}
    read = predicted({**llama, "n_special": 1}, "--transformers", "5.23.0", **NO_PYTHON)
    assert [row["what"] for row in read["assumptions"]][:2] == ["config.json: transformers does not read n_special, so it changes nothing", "the model is a program, captured of transformers 5.23.0 with torch 2.15.0"]
    refused = predicted({**llama, "num_key_value_heads": 4}, "--transformers", "5.23.0", **NO_PYTHON)
    assert refused.returncode == 2 and "a view of another number of elements" in refused.stderr


def test_models_lists_what_is_shipped(tidemark):
    listed = {row["model_type"]: row["heads"] for row in json.loads(tidemark("models", "--json").stdout)}
    assert set(listed["granite"]) == {"causal_lm", "generation"} and listed["codegen"] == ["causal_lm"]
    assert set(listed["llama"]) == {"causal_lm", "generation", "sequence_classification"}


def test_a_family_file_is_bound_to_a_configuration(tidemark, folders):
    (folders / "work" / "config.json").write_text(json.dumps(GRANITE))
    done = tidemark("predict", "config.json", "--program", SHIPPED / "5.17.0" / "granite", *ASKED)
    assert done.returncode == 0, done.stderr
    refused = tidemark("predict", "--program", SHIPPED / "5.17.0" / "granite", *ASKED)
    assert refused.returncode == 2 and "CONFIG is missing" in refused.stderr


@pytest.mark.parametrize("model_type", ["wav2vec2", "hubert"])
def test_a_sound_that_is_heard_as_it_is_is_asked_for_by_its_samples(predicted, model_type):
    model = {"model_type": model_type, "num_hidden_layers": 2}
    short, long = (predicted(model, "--seq", seconds * 16000, **NO_PYTHON) for seconds in (5, 10))
    assert short["peak"]["allocated_bytes"] < long["peak"]["allocated_bytes"]
    assert any("by chance (numpy.random.choice numpy.random.rand torch.rand)" in row["what"] for row in short["assumptions"])
    unmasked = predicted({**model, "apply_spec_augment": False, "layerdrop": 0.0}, "--seq", 80000, **NO_PYTHON)
    assert unmasked["peak"]["allocated_bytes"] <= short["peak"]["allocated_bytes"]
    odd = predicted(model, "--seq", 80001, **NO_PYTHON)
    assert odd.returncode == 3 and "cuDNN's scratch memory is not known" in odd.stderr
    few = predicted(model, "--seq", 2048, **NO_PYTHON)
    assert few.returncode == 3 and "S >= 9680" in few.stderr, few.stderr


def test_a_feature_encoder_is_frozen_as_its_model_freezes_it(tidemark, folders):
    """By freeze_feature_encoder() its input asks for no gradient, and none of it is kept: 805 allocations, as the real training has (torch 2.15.0, transformers 5.23.0)."""
    (folders / "work" / "config.json").write_text(json.dumps({"model_type": "wav2vec2", "num_hidden_layers": 2, "apply_spec_augment": False, "layerdrop": 0.0}))
    asked = ("--batch", 2, "--seq", 80000, "--gpu", "h200", "--torch", "2.15.0", "--transformers", "5.23.0", "--freeze", "feature_extractor", "--steps", 2)
    done = tidemark("predict", "config.json", *asked, "--events", "events.txt", **NO_PYTHON)
    assert done.returncode == 0, done.stderr
    assert sum(line.startswith("+") for line in (folders / "work" / "events.txt").read_text().splitlines()) == 805


LONGROPE = {"rope_type": "longrope", "rope_theta": 10000.0}
PHI3 = {"model_type": "phi3", "hidden_size": 128, "intermediate_size": 344, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 500, "pad_token_id": 0, "original_max_position_embeddings": 32}


@pytest.mark.parametrize("share, pairs", [(1.0, 16), (0.75, 12)])
def test_a_table_that_the_first_forward_makes_is_made_once(predicted, folders, share, pairs):
    model = {**PHI3, "sliding_window": 262144, "partial_rotary_factor": share, "rope_scaling": {**LONGROPE, "short_factor": [1.0] * pairs, "long_factor": [2.0] * pairs}}
    asked = ("--transformers", "5.23.0", "--steps", 3, "--events", "events.txt")
    assert "peak" in predicted(model, *asked, **NO_PYTHON)
    events = (folders / "work" / "events.txt").read_text().splitlines()
    assert events.count("+512 aten::reciprocal model.rotary_emb") == 1 and events.count("+512 aten::where model.rotary_emb") == 3


def test_factors_are_as_many_as_there_are_pairs_that_are_rotated(predicted):
    model = {**PHI3, "rope_scaling": {**LONGROPE, "short_factor": [1.0] * 15, "long_factor": [2.0] * 16}}
    refused = predicted(model, "--program", SHIPPED / "5.23.0/phi3", **NO_PYTHON)
    assert refused.returncode == 3 and "rope_parameters.short_factor.count == hidden_size//num_attention_heads//2 alone" in refused.stderr
    assert "peak" in predicted({**model, "rope_scaling": {**LONGROPE, "short_factor": [1.0] * 16, "long_factor": [2.0] * 16}}, "--transformers", "5.24.0", **NO_PYTHON)
