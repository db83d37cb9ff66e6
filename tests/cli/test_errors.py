"""Bad input: one clear error each, with the right exit code, and nothing left behind."""

import json
import pathlib
import subprocess

import pytest

USAGE, UNSUPPORTED = 2, 3


def refused(done, code, *texts):
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("tidemark: ")
    for text in texts:
        assert text in done.stderr
    return True


def test_card_is_missing(tidemark):
    refused(tidemark("run", "--", "python", "x.py"), USAGE, "--gpu is missing", "tidemark gpus", "h200")


def test_card_does_not_exist(tidemark):
    refused(tidemark("run", "--gpu", "h100-90gb", "--", "python", "x.py"), USAGE, 'no card "h100-90gb"', "did you mean h100-80gb?")


def test_card_file_does_not_exist(tidemark):
    refused(tidemark("run", "--gpu", "my.json", "--", "python", "x.py"), USAGE, "my.json", "No such file")


@pytest.mark.parametrize("text, says", [("{", "not JSON"), ("[]", "expected an object"), ("{}", '"name" is missing'), ('{"nam": 1}', 'there is "nam"')])
def test_card_file_is_wrong(tidemark, folders, text, says):
    (folders / "work" / "my.json").write_text(text)
    refused(tidemark("run", "--gpu", "my.json", "--", "python", "x.py"), USAGE, "my.json", says)


@pytest.mark.parametrize("size, says", [("80G", "GB or GiB"), ("lots", "does not begin with a number"), ("-3GB", "negative"), ("1MiB", "less than the driver")])
def test_memory_is_wrong(tidemark, size, says):
    refused(tidemark("run", "--gpu", "h100-80gb", f"--memory={size}", "--", "python", "x.py"), USAGE, says)


def test_a_card_is_larger_than_is_simulated(tidemark, folders):
    (folders / "work" / "config.json").write_text('{"model_type": "gpt2"}')
    refused(tidemark("predict", "config.json", "--batch", 1, "--gpu", "h100-80gb", "--memory", "64TiB"), USAGE, "64.0 TiB is more than any card that is simulated has", "16.0 TiB at most")


@pytest.mark.parametrize("option", ["--json", "--html", "--csv", "--snapshot"])
def test_output_cannot_be_written(tidemark, option):
    refused(tidemark("run", "--gpu", "t4", option, "no/such/folder/r", "--", "python", "x.py"), USAGE, option, "does not exist")


def test_command_is_missing(tidemark):
    refused(tidemark("run", "--gpu", "t4"), USAGE, "which program?")


def test_command_does_not_exist(tidemark):
    refused(tidemark("run", "--gpu", "t4", "--", "pyhton", "x.py"), USAGE, "command not found: pyhton")


def test_command_is_a_script_without_its_interpreter(tidemark, script):
    script("pass")
    refused(tidemark("run", "--gpu", "t4", "--", "train.py"), USAGE, "command not found: train.py", "-- python train.py")


def test_script_does_not_exist(tidemark, script, python):
    script("pass")
    refused(tidemark("run", "--gpu", "t4", "--", python, "trian.py"), USAGE, "the script trian.py does not exist", "did you mean train.py?")


def test_interpreter_does_not_run(tidemark, folders):
    broken = folders / "work" / "python"
    broken.write_text("#!/bin/sh\necho broken >&2\nexit 9\n")
    broken.chmod(0o755)
    refused(tidemark("run", "--gpu", "t4", "--", broken, "-c", "1"), UNSUPPORTED, "does not run (exit code 9)", "broken")


def test_no_torch(tidemark, script, folders, python):
    (folders / "site" / "torch.py").write_text("")  # not torch, and it hides the real one if there is one
    refused(tidemark("run", "--gpu", "t4", "--", python, script("pass")), UNSUPPORTED, "no torch in")


def test_torch_without_cuda(tidemark, script, fake_torch, python):
    fake_torch("2.11.0+cpu", None, with_library=False)
    refused(tidemark("run", "--gpu", "t4", "--", python, script("pass")), UNSUPPORTED, "torch 2.11.0+cpu is built without CUDA", "install a CUDA build")


def test_torch_for_rocm(tidemark, script, fake_torch, python):
    fake_torch("2.11.0+rocm6.4", None, hip="6.4", with_library=False)
    refused(tidemark("run", "--gpu", "t4", "--", python, script("pass")), UNSUPPORTED, "for ROCm, not for CUDA")


def test_torch_is_too_old(tidemark, script, fake_torch, python):
    fake_torch("2.5.1+cu124", "12.4")
    refused(tidemark("run", "--gpu", "t4", "--", python, script("pass")), UNSUPPORTED, "torch 2.5.1+cu124 is too old", "2.6 or later")


def test_torch_is_damaged(tidemark, script, fake_torch, python):
    (fake_torch() / "lib" / "libtorch_cuda.so").write_bytes(b"\x7fELF")
    refused(tidemark("run", "--gpu", "t4", "--", python, script("pass")), USAGE, "libtorch_cuda.so", "ends inside its header")


def test_two_torches(tidemark, ready, reporting, folders, python):
    for version, where in (("2.11.0+cu130", "site"), ("2.6.0", "other")):
        info = folders / where / f"torch-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n")
    done = tidemark("run", "--gpu", "h100-80gb", "--", python, reporting(), PYTHONPATH=f"{folders / 'site'}:{folders / 'other'}")
    assert done.returncode == 0
    assert f"tidemark: torch 2.11.0+cu130 in {folders / 'site'} is what Python imports; torch 2.6.0 in {folders / 'other'}" in done.stderr


@pytest.mark.parametrize("version", ["2.16.0.dev20270101+cu132", "3.1.0"])
def test_a_torch_newer_than_any_known(tidemark, fake_torch, compiled_extension, reporting, python, version):
    fake_torch(version, "13.2")
    assert tidemark("run", "--gpu", "h100-80gb", "--", python, reporting()).returncode == 0


LOSSES = ("zeros, so that masks, lengths and routing", "no timeline", "no operation and no line", "host memory is not counted")


def test_no_compiler(tidemark, fake_torch, reporting, python, folders):
    fake_torch()
    for _ in range(2):  # the second time nothing is made, and it is said again
        done = tidemark("run", "--gpu", "h100-80gb", "--", python, reporting(), PATH=str(folders / "home"))
        assert done.returncode == 0
        said = [line for line in done.stderr.splitlines() if line.startswith("tidemark: for torch 2.11.0, no C++ compiler was found (install g++ 10")]
        assert len(said) == 1 and all(loss in said[0] for loss in LOSSES)
    assert "preparing" not in done.stderr


def test_two_that_start_together_compile_once(start, ready, reporting, python, environment, folders):
    with open(environment["CXX"]) as compiler:
        works = compiler.read()
    with open(environment["CXX"], "w") as compiler:  # notes what it compiles, and takes its time
        compiler.write(works.replace("while", f'case "$1" in -c) echo x >> {folders}/compiled; sleep 0.5;; esac\nwhile', 1))
    script = reporting()
    both = [start("run", "--gpu", "h100-80gb", "--", python, script, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) for _ in range(2)]
    said = [one.communicate()[1] for one in both]
    assert [one.returncode for one in both] == [0, 0], said
    sources = pathlib.Path(__file__).resolve().parents[2] / "virtual_gpu"
    assert (folders / "compiled").read_text().count("x") == len(list(sources.rglob("without.txt")))
    assert sorted("preparing for torch" in text for text in said) == [False, True]


def test_compiler_fails(tidemark, ready, reporting, python, environment):
    with open(environment["CXX"]) as compiler:
        works = compiler.read()
    with open(environment["CXX"], "w") as compiler:
        compiler.write(works.replace("while", "case \"$*\" in *integers.cpp*) echo 'a.cpp:1: note: x\na.cpp:2:3: error: no such thing' >&2; exit 1;; esac\nwhile"))
    done = tidemark("run", "--gpu", "h100-80gb", "--", python, reporting())
    assert done.returncode == 0
    assert f"tidemark: for torch 2.11.0, integers does not compile: a.cpp:2:3: error: no such thing: integers on the card are {LOSSES[0]}" in done.stderr
    assert not any(loss in done.stderr for loss in LOSSES[1:])
    prepared = tidemark("prepare", "--python", python)
    assert "integers     integers does not compile" in prepared.stdout and "events       ready" in prepared.stdout
    with open(environment["CXX"], "w") as compiler:  # another compiler: tried again by itself
        compiler.write(works)
    assert "does not compile" not in tidemark("run", "--gpu", "h100-80gb", "--", python, reporting()).stderr


def test_program_never_uses_cuda(tidemark, script, ready, python):
    done = tidemark("run", "--gpu", "t4", "--", python, script("print('hello')"))
    assert done.returncode == UNSUPPORTED
    assert done.stdout == "hello\n"
    assert "without using CUDA" in done.stderr


@pytest.mark.parametrize("arguments, says", [(["rnu"], "did you mean run?"), (["run", "--gppu", "t4", "--", "x"], "did you mean --gpu?"), (["run", "--steps", "0", "--", "x"], "--steps"), (["gpus", "--jsn"], "did you mean --json?")])
def test_usage(tidemark, arguments, says):
    refused(tidemark(*arguments), USAGE, says)


def test_stored_report_is_wrong(tidemark, folders):
    (folders / "work" / "r.json").write_text(json.dumps({"schema": "tidemark.report/2"}))
    refused(tidemark("report", "r.json"), USAGE, "r.json", "tidemark.report/2")
    refused(tidemark("report", "none.json"), USAGE, "none.json")


@pytest.mark.parametrize(
    "options, says",
    [
        (["--gpus", "0"], "--gpus: 0 is not from 1"),
        (["--gpus", "8", "--rank", "8"], "no rank 8 among 8 (0 to 7)"),
        (["--rank", "1"], "no rank 1 among 1"),
        (["--gpus", "8", "--rank", "-1"], "no rank -1"),
        (["--gpus", "6", "--gpus-per-node", "4"], "6 GPUs are not nodes of 4"),
        (["--gpus", "2", "--rank", "1", "--all-ranks"], "cannot be combined with --rank"),
        (["--gpus", "2", "--all-ranks", "--snapshot", "s.pickle"], "cannot be combined with --all-ranks"),
        (["--gpus", "two"], "--gpus"),
    ],
)
def test_world_is_wrong(tidemark, options, says):
    refused(tidemark("run", "--gpu", "t4", *options, "--", "python", "x.py"), USAGE, says)
