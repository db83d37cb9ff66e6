"""`tidemark run` around programs that write the report themselves."""

import json
import os
import pathlib
import signal
import stat
import subprocess
import time

import pytest

H100 = ("run", "--gpu", "h100-80gb")


def test_fits(tidemark, ready, reporting, python):
    done = tidemark(*H100, "--", python, reporting())
    assert done.returncode == 0, done.stderr
    first, verdict, *rest = done.stdout.splitlines()
    assert first == "from the script"
    assert verdict.startswith("fits: peak 61.6 GiB of 79.2 GiB, ")
    assert len(rest) <= 28


def test_does_not_fit(tidemark, ready, reporting, python):
    done = tidemark("run", "--gpu", "t4", "--", python, reporting())
    assert done.returncode == 1
    assert "does not fit: peak " in done.stdout


def test_memory_changes_the_card(tidemark, ready, reporting, python):
    done = tidemark("run", "--gpu", "t4", "--memory", "400GB", "--quiet", "--", python, reporting())
    assert done.returncode == 0
    assert done.stdout.splitlines()[1].endswith("free") and "of 373 GiB" in done.stdout


def test_out_of_memory_is_1_whatever_the_program_returned(tidemark, ready, reporting, python, oom_record):
    done = tidemark(*H100, "--", python, reporting(code=7, oom=f"json.loads({oom_record!r})"))
    assert done.returncode == 1
    assert "does not fit: out of memory at step 1, backward, asking for 2.00 GiB" in done.stdout
    assert "at train.py:3" in done.stdout


@pytest.mark.parametrize("code", [1, 3, 7, 250])
def test_a_failure_of_the_program_is_no_verdict(tidemark, ready, reporting, script, python, code):
    done = tidemark(*H100, "--", python, reporting(code=code))
    assert done.returncode == 4 and f"not known: the program ended with exit code {code}; until then its peak was 61.6 GiB" in done.stdout
    done = tidemark(*H100, "--", python, script(f"import sys; print('out'); print('err', file=sys.stderr); sys.exit({code})"))
    assert (done.returncode, done.stdout) == (4, "out\n")
    assert done.stderr.endswith(f"err\ntidemark: the program ended with exit code {code} before it used the card\n")


@pytest.mark.parametrize("code, ours", [(0, 3), (1, 4)])
def test_a_process_that_was_ended_before_it_could_report(tidemark, ready, script, python, code, ours):
    done = tidemark(*H100, "--", python, script(f"import os, sys\nopen(os.environ['TIDEMARK_RUN_DIR'] + '/card-used-1', 'w')\nsys.exit({code})"))
    assert done.returncode == ours and "the process that used the card was ended before it could report" in done.stderr


def test_the_verdict_stands_on_a_line_of_its_own(start, ready, script, reporting, python):
    path = reporting()
    path.write_text(path.read_text().replace('print("from the script")', 'sys.stderr.write("50%|#####     ")'))
    process = start(*H100, "--", python, path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert any(line.startswith("fits: peak ") for line in process.communicate(timeout=900)[0].splitlines())


def test_an_exception_reaches_the_user(tidemark, ready, script, python):
    done = tidemark(*H100, "--", python, script("raise ValueError('my own')"))
    assert done.returncode == 4
    assert "\nValueError: my own\ntidemark: the program ended with exit code 1 " in done.stderr


def test_stdin_reaches_the_program(start, ready, script, python):
    process = start(*H100, "--", python, script("print(input()[::-1])"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.communicate("abc\n", timeout=900)[0] == "cba\n"


def test_report_files(tidemark, ready, reporting, python, folders):
    done = tidemark(*H100, "--json", "r.json", "--html", "r.html", "--csv", "r.csv", "--", python, reporting())
    assert done.returncode == 0, done.stderr
    report = json.loads((folders / "work" / "r.json").read_text())
    assert report["schema"] == "tidemark.report/1" and report["fits"] is True
    assert report["card"]["key"] == "h100-80gb"
    account = {row["name"]: row["typical_bytes"] for row in report["device"]}
    assert set(account) == {"context", "libraries", "driver"} and account["context"] == report["card"]["context_bytes"]
    assert report["peak"]["device_bytes"] == (61 << 30) + sum(account.values())
    assert report["script"]["command"][1].endswith("train.py")
    assert {"tidemark", "torch", "cuda", "python"} <= set(report["versions"])
    assert "<html" in (folders / "work" / "r.html").read_text()
    assert (folders / "work" / "r.csv").read_text().startswith("section,")


def test_a_margin_is_a_quantile_and_decides(tidemark, ready, reporting, python, folders):
    done = tidemark(*H100, "--margin", "p90", "--json", "r.json", "--", python, reporting())
    margin = json.loads((folders / "work" / "r.json").read_text())["margin"]
    assert margin["of"] == "all" and margin["residuals"] > 100 and f"margin p90 of {margin['residuals']} measured residuals (all)" in done.stdout
    assert " with a margin of " in done.stdout.splitlines()[1]
    assert tidemark(*H100, "--margin", "10 %", "--", python, reporting()).returncode == 2
    assert tidemark(*H100, "--memory", "62GiB", "--", python, reporting()).returncode == 0
    assert tidemark(*H100, "--memory", "62GiB", "--margin", "p90", "--", python, reporting()).returncode == 1


def test_json_on_stdout_moves_the_text_to_stderr(tidemark, ready, script, reporting, python):
    path = reporting()
    path.write_text(path.read_text().replace('print("from the script")', ""))
    done = tidemark(*H100, "--json", "-", "--", python, path)
    assert json.loads(done.stdout)["fits"] is True
    assert "fits: peak" in done.stderr


def test_a_stored_report_shows_the_same_text(tidemark, ready, reporting, python):
    done = tidemark(*H100, "--json", "r.json", "--", python, reporting())
    assert tidemark("report", "r.json").stdout == done.stdout.split("\n", 1)[1]


def test_the_worst_process_counts(tidemark, ready, reporting, script, python):
    reporting(reserved=5 << 30).rename(reporting().parent / "small.py")
    reporting(reserved=70 << 30)
    script("import subprocess, sys\nfor name in ('small.py', 'train.py'): subprocess.run([sys.executable, name])\n", "both.py")
    assert "peak 70.6 GiB" in tidemark(*H100, "--", python, "both.py").stdout


SHOW = """
import json, os
run = os.environ["TIDEMARK_RUN_DIR"]
json.dump({"env": dict(os.environ), "files": sorted(os.listdir(run)), "mode": os.stat(run).st_mode,
           "card": open(os.environ["TIDEMARK_CARD"]).read(), "libraries": sorted(os.listdir(os.environ["TRITON_LIBCUDA_PATH"]))}, open("seen.json", "w"))
"""


def seen_by(tidemark, script, python, folders, *options, **changes):
    tidemark(*H100, *options, "--", python, script(SHOW), **changes)
    return json.loads((folders / "work" / "seen.json").read_text())


def test_what_the_program_sees(tidemark, ready, script, python, folders):
    seen = seen_by(tidemark, script, python, folders, "--fake-weights", "--moe-routing", "skewed:0.5", "--generate-length", "64", "--snapshot", "s.pickle", "--allocator", "a:1")
    env = seen["env"]
    assert env["TIDEMARK_STEPS"] == "auto" and env["TIDEMARK_FAKE_WEIGHTS"] == "1" and env["TIDEMARK_MOE_ROUTING"] == "skewed:0.5" and env["TIDEMARK_GENERATE_LENGTH"] == "64"
    assert env["TIDEMARK_SNAPSHOT"] == str(folders / "work" / "s.pickle")
    assert env["PYTORCH_CUDA_ALLOC_CONF"] == env["PYTORCH_ALLOC_CONF"] == "a:1"
    assert env["CUDA_VISIBLE_DEVICES"] == "0"
    assert (pathlib.Path(env["TIDEMARK_TORCH_EXTENSION"]) / "events.so").is_file()
    assert [pathlib.Path(p).name for p in env["LD_PRELOAD"].split(":")] == ["libtidemark_gpu.so", "libtidemark_stubs.so"]
    startup, python_folder = env["PYTHONPATH"].split(":")[:2]
    assert (pathlib.Path(startup) / "sitecustomize.py").is_file() and (pathlib.Path(python_folder) / "tidemark").is_dir()
    assert env["LD_LIBRARY_PATH"].split(":")[0] == env["TRITON_LIBCUDA_PATH"]
    assert {"libcuda.so.1", "libcuda.so", "libnvidia-ml.so.1", "libtidemark_gpu.so", "libtidemark_stubs.so"} <= set(seen["libraries"])
    assert {"card.json", "card.properties"} <= set(seen["files"])
    assert stat.S_IMODE(seen["mode"]) == 0o700
    for line in ("name=NVIDIA H100 80GB HBM3", "compute_capability_major=9", "cuda_major=13", "cuda_minor=0"):
        assert line in seen["card"].splitlines()
    assert str(folders / "home" / ".cache" / "tidemark") in env["LD_LIBRARY_PATH"]


@pytest.mark.parametrize(
    "options, said",
    [
        (["--data", "some"], '--data: "some" is not a number of batches'),
        (["--data", "0"], '--data: "0" is not a number of batches'),
        (["--data", "all", "--steps", "5"], "--data: it cannot be combined with --steps"),
        (["--data", "all", "--keep-going"], "--data: it cannot be combined with --keep-going"),
        (["--generate-length", "-3"], '--generate-length: "-3" is not a number of tokens'),
    ],
)
def test_lengths_and_epochs_that_make_no_sense(tidemark, options, said):
    done = tidemark(*H100, *options, "--", "python", "train.py")
    assert done.returncode == 2 and said in done.stderr


@pytest.mark.parametrize("data", ["all", "500"])
def test_data(tidemark, ready, script, python, folders, data):
    assert seen_by(tidemark, script, python, folders, "--data", data)["env"]["TIDEMARK_DATA"] == data


@pytest.mark.parametrize("options, steps", [(["--steps", "5"], "5"), (["--keep-going"], "all")])
def test_steps(tidemark, ready, script, python, folders, options, steps):
    assert seen_by(tidemark, script, python, folders, *options)["env"]["TIDEMARK_STEPS"] == steps


def test_lists_in_the_environment_are_kept(tidemark, ready, script, python, folders):
    env = seen_by(tidemark, script, python, folders, LD_LIBRARY_PATH="/mine", XDG_CACHE_HOME=str(folders / "home" / "cache"))["env"]
    assert env["LD_LIBRARY_PATH"].endswith(":/mine")
    assert str(folders / "home" / "cache" / "tidemark") in env["LD_LIBRARY_PATH"]


def test_a_cache_folder_with_a_space_still_loads(tidemark, ready, script, python, folders):
    seen = seen_by(tidemark, script, python, folders, XDG_CACHE_HOME=str(folders / "home" / "my cache"))
    assert " " not in seen["env"]["LD_PRELOAD"]
    assert "libtidemark_gpu.so" in seen["libraries"]


def test_a_second_run_prepares_nothing(tidemark, ready, script, python):
    first = tidemark(*H100, "--", python, script("pass"))
    second = tidemark(*H100, "--", python, script("pass"))
    assert "preparing for torch 2.11.0 (once)" in first.stderr
    assert "preparing" not in second.stderr


def test_prepare_ahead(tidemark, ready, script, python):
    done = tidemark("prepare", "--python", python)
    assert done.returncode == 0 and "ready for torch 2.11.0+cu130 (CUDA 13.0)" in done.stdout
    assert [line.split() for line in done.stdout.splitlines()[1:]] == [[part, "ready"] for part in ("assumptions", "blame", "events", "host_memory", "integers", "replay")]
    assert "preparing" not in tidemark(*H100, "--", python, script("pass")).stderr


@pytest.mark.parametrize("first_lines", ["#!{python}\n", "#!/usr/bin/env {name}\n", "#!/bin/sh\n'''exec' {python} \"$0\" \"$@\"\n' '''\n"])
def test_programs_with_a_first_line(tidemark, ready, python, folders, reporting, first_lines):
    program = folders / "work" / "torchrun"
    program.write_text(first_lines.format(python=python, name=pathlib.Path(python).name) + reporting().read_text())
    program.chmod(0o755)
    done = tidemark(*H100, "--", "./torchrun", PATH=str(pathlib.Path(python).parent) + ":" + os.environ["PATH"])
    assert done.returncode == 0, done.stderr
    assert "fits: peak" in done.stdout


# --- signals and processes -------------------------------------------------------------------------------------------


def alive(marker):
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and marker in (entry / "cmdline").read_text(errors="replace") and "State:\tZ" not in (entry / "status").read_text():
                found.append(int(entry.name))
        except OSError:
            pass
    return found


def wait_for(condition, seconds=30):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return False


def test_a_killed_program(tidemark, ready, script, python):
    done = tidemark(*H100, "--", python, script("import os, signal; os.kill(os.getpid(), signal.SIGKILL)"))
    assert done.returncode == 128 + 9
    assert "tidemark: the program was ended by signal 9 (Killed)" in done.stderr


FORKING = """
import os, signal, subprocess, sys, time
code = "import signal, time\\nfor s in (signal.SIGTERM, signal.SIGHUP): signal.signal(s, signal.SIG_IGN)\\ntime.sleep(600) # %(marker)s"
subprocess.Popen([sys.executable, "-c", code], start_new_session=True)      # stubborn, and in a session of its own
if os.fork() == 0:
    if os.fork() == 0:
        os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(600) # %(marker)s"])   # orphaned
    os._exit(0)
time.sleep(0.3)
"""


def test_a_forking_program_leaves_no_processes(tidemark, ready, script, python, tmp_path):
    marker = f"left-behind-{tmp_path.name}-{os.getpid()}"
    started = time.monotonic()
    done = tidemark(*H100, "--", python, script(FORKING % {"marker": marker}))
    assert done.returncode == 3  # it never used CUDA
    assert alive(marker) == []
    assert time.monotonic() - started < 30


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_reaches_the_program(start, ready, script, python, folders, number):
    script(f"import signal, sys, time\nsignal.signal({int(number)}, lambda *_: sys.exit(42))\nopen('started', 'w').close()\ntime.sleep(600)\n")
    process = start(*H100, "--", python, "train.py", stderr=subprocess.DEVNULL)
    assert wait_for(lambda: (folders / "work" / "started").exists())
    process.send_signal(number)
    assert process.wait(30) == 4
    assert list((folders / "tmp").iterdir()) == []


def test_a_terminated_run_cleans_up(start, ready, script, python, folders, tmp_path):
    marker = f"terminated-{tmp_path.name}-{os.getpid()}"
    script("import time\nopen('started', 'w').close()\ntime.sleep(600)\n")
    process = start(*H100, "--", python, "train.py", marker, stderr=subprocess.PIPE)
    assert wait_for(lambda: (folders / "work" / "started").exists())
    process.terminate()
    assert process.wait(30) == 128 + 15
    assert alive(marker) == [] and list((folders / "tmp").iterdir()) == []


def test_the_program_ends_with_a_killed_launcher(start, ready, script, python, folders, tmp_path):
    marker = f"orphan-{tmp_path.name}-{os.getpid()}"
    script("import time\nopen('started', 'w').close()\ntime.sleep(600)\n")
    process = start(*H100, "--", python, "train.py", marker, stderr=subprocess.DEVNULL)
    assert wait_for(lambda: (folders / "work" / "started").exists())
    process.kill()
    process.wait(30)
    assert wait_for(lambda: alive(marker) == [])


def test_the_next_run_removes_what_a_killed_one_left(start, tidemark, ready, script, python, folders):
    script("import time\nopen('started', 'w').close()\ntime.sleep(600)\n")
    process = start(*H100, "--", python, "train.py", stderr=subprocess.DEVNULL)
    assert wait_for(lambda: (folders / "work" / "started").exists())
    process.kill()
    process.wait(30)
    assert len(list((folders / "tmp").iterdir())) == 1
    tidemark(*H100, "--", python, script("pass"))  # which checks that nothing is left


def test_a_run_leaves_the_folder_of_another_alone(start, ready, script, python, folders):
    script("import time\nopen('started', 'w').close()\ntime.sleep(600)\n")
    process = start(*H100, "--", python, "train.py", stderr=subprocess.DEVNULL)
    assert wait_for(lambda: (folders / "work" / "started").exists())
    start(*H100, "--", python, script("pass", "other.py"), stderr=subprocess.DEVNULL).wait(60)
    assert len(list((folders / "tmp").iterdir())) == 1
    process.terminate()
    process.wait(30)
    assert list((folders / "tmp").iterdir()) == []


def test_a_reader_that_goes_away(start, ready, reporting, python, folders):
    path = reporting()
    path.write_text(path.read_text().replace('print("from the script")', ""))
    process = start(*H100, "--", python, path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    process.stdout.close()
    assert process.wait(60) == 0
    assert list((folders / "tmp").iterdir()) == []


def test_no_live_line_in_a_pipe(tidemark, ready, script, python):
    text = "import os, time\nopen(os.environ['TIDEMARK_RUN_DIR'] + '/progress', 'w').write('step 1  now 1 GiB  peak 2 GiB\\n')\ntime.sleep(0.5)\n"
    done = tidemark(*H100, "--", python, script(text))
    assert "\r" not in done.stderr and "step 1" not in done.stderr


def test_a_live_line_on_a_terminal(on_a_terminal, ready, script, python):
    text = "import os, time\nopen(os.environ['TIDEMARK_RUN_DIR'] + '/progress', 'w').write('step 1  now 1 GiB  peak 2 GiB\\n')\ntime.sleep(2.9)\n"
    code, shown = on_a_terminal(*H100, "--", python, script(text))
    assert code == 3
    assert "\r\x1b[Kstep 1  now 1 GiB  peak 2 GiB\r\x1b[K" in shown
    assert shown.count("step 1  now 1 GiB  peak 2 GiB  2 s\r") == 1  # a line that stands says that there is life
