"""integrations/slurm: the filter in Slurm's own sbatch and srun, with its daemons running; what `scontrol` and the job itself say of it."""

import pytest
import slurm_cluster
from integrating import ROOT, TIDEMARK

pytestmark = pytest.mark.skipif(bool(slurm_cluster.missing()), reason=slurm_cluster.missing())
NODES = {"n1": ("l4", 4), "n2": ("h100", 4), "n3": ("h100", 4)}
TABLE = 'TIDEMARK = {{ command = "{}", cards = {{ {{ "l4", "l4" }}, {{ "h100", "h100-80gb" }} }} }}\n'


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    folder = tmp_path_factory.mktemp("slurm")
    running = slurm_cluster.Cluster(folder, NODES, TABLE.format(TIDEMARK) + (ROOT / "integrations/slurm/cli_filter.lua").read_text())
    yield running
    running.end()


@pytest.fixture
def submit(cluster, spec, tmp_path):
    """submit(*options of sbatch, **keys of the spec) -> what sbatch has done"""

    def go(*options, **keys):
        (tmp_path / "job.sh").write_text(f"#!/bin/sh\n#SBATCH --comment=tidemark:{spec(**keys)}\necho on $SLURM_JOB_NODELIST with $SLURM_GPUS_ON_NODE\n")
        return cluster.run("sbatch", *options, "job.sh", cwd=tmp_path)

    return go


def number_of(done):
    assert done.returncode == 0, done.stderr
    return done.stdout.split()[-1]


def queued(cluster):
    return cluster.run("squeue", "-h").stdout


def test_a_job_gets_gpus_and_runs_where_it_fits(cluster, submit, tmp_path):
    done = submit(batch=12000)
    job = cluster.ended(number_of(done))
    assert done.stderr == "sbatch: lua: tidemark: spec.json trains on 1 GPU, and fits on h100\n"
    assert (job["TresPerJob"], job["Features"], job["JobState"]) == ("gres:gpu:1", "h100", "COMPLETED")
    assert (tmp_path / f"slurm-{job['JobId']}.out").read_text() in ("on n2 with 1\n", "on n3 with 1\n")


def test_cards_that_all_fit(cluster, submit):
    job = cluster.job(number_of(submit("--hold", gpus=4, parallel="zero2")))
    assert (job["TresPerJob"], job["Features"], job["NumNodes"]) == ("gres:gpu:4", "l4|h100", "1")


def test_over_two_nodes_with_the_same_card(cluster, submit, tmp_path):
    job = cluster.ended(number_of(submit(gpus=8, gpus_per_node=4, parallel="zero2")))
    assert (job["TresPerNode"], job["NumNodes"], job["Features"]) == ("gres:gpu:4", "2", "[l4|h100]")
    assert (tmp_path / f"slurm-{job['JobId']}.out").read_text() == "on n[2-3] with 4\n"


def test_what_the_job_asks_for_itself_holds(cluster, submit):
    job = cluster.job(number_of(submit("--hold", "--gres=gpu:h100:1", batch=12000)))
    assert (job["TresPerNode"], job["Features"]) == ("gres:gpu:h100:1", "(null)")


@pytest.mark.parametrize(
    "options, keys, said",
    [
        ((), {"batch": 999999}, "spec.json fits on no card:\n  l4: does not fit: out of memory at step 1, forward"),
        (("--constraint=l4",), {"batch": 12000}, "fits on no card:\n  l4: does not fit"),
        (("--gpus=2",), {}, "the job asks for 2 GPUs, and spec.json trains on 1"),
        ((), {"batsch": 3}, "did you mean batch?"),
    ],
)
def test_what_is_refused_is_not_queued(cluster, submit, options, keys, said):
    before = queued(cluster)
    done = submit(*options, **keys)
    assert done.returncode == 1 and said in done.stderr and "cli_filter plugin terminated with error" in done.stderr, done
    assert queued(cluster) == before


def test_srun_and_a_job_that_names_no_spec(cluster, spec, tmp_path):
    done = cluster.run("srun", f"--comment=tidemark:{spec(batch=12000)}", "sh", "-c", "echo $SLURM_JOB_NODELIST $SLURM_GPUS_ON_NODE", cwd=tmp_path)
    assert (done.returncode, done.stdout.split()[1:]) == (0, ["1"]) and done.stdout[:2] in ("n2", "n3"), done
    assert cluster.run("srun", "echo", "there").stdout == "there\n"
