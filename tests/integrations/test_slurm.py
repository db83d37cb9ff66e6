"""integrations/slurm: the filter in a real Lua, against what Slurm gives to it."""

import shutil
import subprocess

import pytest
from integrating import ROOT, TIDEMARK

LUAS = [name for name in ("lua5.1", "lua5.3", "lua5.4") if shutil.which(name)]
pytestmark = pytest.mark.skipif(not LUAS, reason="no Lua is installed (apt install lua5.4)")
CARDS = ("l4=l4", "l40s=l40s", "h100=h100-80gb")


@pytest.fixture(params=LUAS)
def submit(request, tmp_path):
    """submit(spec's name, **options) -> (code, what is set, what was said)"""

    def run(name, command=TIDEMARK, cards=CARDS, **options):
        comment = {"comment": f"a note tidemark:{name} of mine"} if name else {}
        words = [f"{key.replace('_', '-')}={value}" for key, value in {"type": "sbatch", **comment, **options}.items()]
        script = ROOT / "tests/integrations/slurm_stand_in.lua"
        done = subprocess.run([request.param, script, ROOT / "integrations/slurm/cli_filter.lua", command, *cards, "--", *words], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        values = dict(line[5:].split("=", 1) for line in lines if line.startswith("set: "))
        said = "\n".join(line for line in lines if not line.startswith(("set: ", "code: ")))
        return int(lines[-1].removeprefix("code: ")), {key: value for key, value in values.items() if key not in {"type", "comment"}}, said

    return run


def test_a_job_gets_what_its_spec_needs(submit, spec):
    assert submit(spec()) == (0, {"gpus": "1", "constraint": "l4|l40s|h100"}, "info: tidemark: spec.json trains on 1 GPU, and fits on l4, l40s, h100")
    assert submit(spec(batch=12000))[1] == {"gpus": "1", "constraint": "h100"}
    assert submit(spec(gpus=4, parallel="zero2"))[1] == {"gpus": "4", "constraint": "l4|l40s|h100"}
    assert submit(spec(gpus=8, parallel="zero2", gpus_per_node=4))[1] == {"nodes": "2", "gpus-per-node": "4", "constraint": "[l4|l40s|h100]"}


def test_a_job_without_a_spec_is_left_alone(submit):
    assert submit(None, gpus="2") == (0, {"gpus": "2"}, "")
    assert submit(None) == (0, {}, "")


def test_a_job_that_fits_nowhere_is_refused(submit, spec):
    code, values, said = submit(spec(batch=999999))
    assert code == -1 and values == {}
    assert "fits on no card" in said and all(f"{card}: does not fit: out of memory at step 1, forward" in said for card in ("l4", "l40s", "h100"))


@pytest.mark.parametrize(
    "asked, expected",
    [
        ({"constraint": "l40s|h100"}, {"constraint": "h100", "gpus": "1"}),
        ({"constraint": "[l40s|h100]"}, {"constraint": "h100", "gpus": "1"}),
        ({"gres": "gpu:h100:1"}, {"gres": "gpu:h100:1"}),
        ({"gres": "gpu:1"}, {"gres": "gpu:1", "constraint": "h100"}),
        ({"gpus": "h100:1"}, {"gpus": "h100:1"}),
    ],
)
def test_what_the_job_asks_for_itself_holds(submit, spec, asked, expected):
    assert submit(spec(batch=12000), **asked)[:2] == (0, expected)


def test_a_card_of_its_own_that_is_too_small_is_refused(submit, spec):
    for asked in ({"constraint": "l4"}, {"gpus": "l4:1"}, {"gres": "gpu:l4:1"}):
        code, values, said = submit(spec(batch=12000), **asked)
        assert code == -1 and values == asked and "l4: does not fit" in said and "h100" not in said


def test_another_number_of_gpus_is_refused(submit, spec):
    name = spec(gpus=8, parallel="zero2", gpus_per_node=4)
    for asked in ({"gpus": "4"}, {"nodes": "2-2", "gpus-per-node": "h100:8"}, {"gres": "gpu:4"}):
        code, _, said = submit(name, **asked)
        assert code == -1 and said.startswith("error: tidemark: the job asks for ") and said.endswith("and spec.json trains on 8")
    assert submit(name, nodes="2-2", **{"gpus-per-node": "h100:4"})[:2] == (0, {"nodes": "2-2", "gpus-per-node": "h100:4"})


def test_a_wrong_spec_is_refused_in_the_words_of_the_command(submit, spec):
    code, values, said = submit(spec(batsch=3))
    assert code == -1 and values == {} and '"batsch" is not a known key' in said and "did you mean batch?" in said
    code, _, said = submit("it's not there.json".replace(" ", "_"))
    assert code == -1 and "cannot read" in said


def test_what_is_not_known_keeps_no_job_back(submit, spec):
    assert submit(spec("other.json", model={"model_type": "nope"}))[:2] == (0, {})
    assert submit(spec(), command="/nowhere/tidemark")[:2] == (0, {})
    assert submit(spec(), constraint="ice&rack3") == (0, {"constraint": "ice&rack3"}, "info: tidemark: not looked at, since ice&rack3 is no card that is known here")
