"""A cluster of Slurm's own daemons on this machine: munged, slurmctld, and a slurmd for each of its nodes, from files in one folder."""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import time

SBIN = os.environ["PATH"] + ":/usr/sbin:/sbin"
DAEMONS = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol")

CONFIGURATION = """
ClusterName=tidemark
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdSpoolDir={folder}/spool.%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu
CliFilterPlugins=cli_filter/lua
{nodes}
PartitionName=all Nodes=ALL Default=YES
"""


def missing():
    """Why there can be no cluster here; empty where there can."""
    absent = [name for name in DAEMONS if not shutil.which(name, path=SBIN)]
    if absent:
        return f"{', '.join(absent)} not installed (apt install munge slurmctld slurmd slurm-client slurm-wlm-basic-plugins)"
    return "" if os.getuid() == 0 else "Slurm's daemons run as root here"


def free_ports(count):
    with contextlib.ExitStack() as opened:
        sockets = [opened.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


class Cluster:
    """nodes: {name: (feature, and the type of its GPUs; how many)}.  The GPUs are said by configuration alone."""

    def __init__(self, folder, nodes, script):
        self.folder, self.started = folder, []
        self.environment = {**os.environ, "PATH": SBIN, "SLURM_CONF": str(folder / "slurm.conf")}
        host, ports = socket.gethostname().split(".")[0], free_ports(1 + len(nodes))
        rows = [f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=8 Feature={card} Gres=gpu:{card}:{gpus}" for (name, (card, gpus)), port in zip(nodes.items(), ports[1:])]
        (folder / "slurm.conf").write_text(CONFIGURATION.format(host=host, ports=ports, folder=folder, nodes="\n".join(rows)))
        for number in range(max(gpus for _, gpus in nodes.values())):
            (folder / f"gpu{number}").touch()  # in the place of /dev/nvidia0
        (folder / "gres.conf").write_text("".join(f"NodeName={name} Name=gpu Type={card} File={folder}/gpu[0-{gpus - 1}]\n" for name, (card, gpus) in nodes.items()))
        (folder / "cli_filter.lua").write_text(script)
        (folder / "munge.key").write_bytes(os.urandom(128))
        (folder / "munge.key").chmod(0o600)
        try:
            self._start("munged", "--foreground", "--force", f"--socket={folder}/munge.socket", f"--key-file={folder}/munge.key", f"--log-file={folder}/munged.log", f"--pid-file={folder}/munged.pid", f"--seed-file={folder}/munged.seed")
            self._until("munged listens", lambda: (folder / "munge.socket").exists())
            self._start("slurmctld", "-D", "-c")
            for name in nodes:
                self._start("slurmd", "-D", "-N", name)
            self._until("the nodes are idle", lambda: self.run("sinfo", "-h", "-o", "%t %D", "-t", "idle").stdout.split()[1:] == [str(len(nodes))])
        except BaseException:
            self.end()
            raise

    def _start(self, name, *options):
        log = (self.folder / f"{name}.{len(self.started)}.txt").open("wb")
        self.started.append(subprocess.Popen([shutil.which(name, path=SBIN), *options], env=self.environment, stdout=log, stderr=log, cwd=self.folder))

    def _until(self, what, holds, seconds=60):
        for _ in range(seconds * 5):
            if holds():
                return
            time.sleep(0.2)
        told = "\n".join(f"{path.name}: {path.read_text()[-1500:]}" for path in self.folder.glob("*.txt"))
        raise TimeoutError(f"not within {seconds} s: {what}\n{told}")

    def run(self, *words, cwd=None):
        return subprocess.run(words, env=self.environment, cwd=cwd or self.folder, capture_output=True, text=True)

    def job(self, number):
        """What `scontrol show job` says of it."""
        return dict(re.findall(r"(\S+?)=(\S*)", self.run("scontrol", "show", "job", "-d", number).stdout))

    def ended(self, number):
        self._until(f"job {number} has ended", lambda: self.job(number)["JobState"] not in ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING"))
        return self.job(number)

    def end(self):
        for process in reversed(self.started):
            process.terminate()
        for process in self.started:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
