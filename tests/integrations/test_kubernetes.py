"""integrations/kubernetes: the webhook over TLS, as an API server calls it, beside a `tidemark serve`; and its manifests against Kubernetes' schemas."""

import base64
import copy
import http.client
import json
import re
import ssl
import subprocess
import sys

import pytest
from integrating import PYTHON, ROOT, SMALL, TIDEMARK, has

HERE = ROOT / "integrations/kubernetes"
CARDS = {"NVIDIA-L4": "l4", "NVIDIA-L40S": "l40s", "NVIDIA-H100-80GB-HBM3": "h100-80gb"}
ALL = sorted(CARDS)


class Processes:
    """`tidemark serve`, and a webhook that asks it."""

    def __init__(self, folder, cards=CARDS, server=None):
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"],
            check=True,
            capture_output=True,
        )
        (folder / "cards.json").write_text(json.dumps(cards))
        self.started = []
        server = server or f"http://127.0.0.1:{self._start([TIDEMARK, 'serve', '--port', '0', '--workers', '1'])}"
        self.port = self._start([sys.executable, HERE / "webhook.py", folder / "cards.json", "--port", "0", "--certificate", folder / "cert.pem", "--key", folder / "key.pem", "--server", server])
        self._trust = ssl.create_default_context(cafile=folder / "cert.pem")

    def _start(self, command):
        self.started.append(subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, text=True))
        return int(re.search(r"(?:127\.0\.0\.1:|port )(\d+)", self.started[-1].stdout.readline())[1])

    def ask(self, body, path="/", method="POST"):
        connection = http.client.HTTPSConnection("localhost", self.port, timeout=60, context=self._trust)
        connection.request(method, path, body)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    def admit(self, pod):
        """response, the pod as it is then"""
        review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "a-b-c", "operation": "CREATE", "object": pod}}
        status, text = self.ask(json.dumps(review))
        assert status == 200, text
        answer = json.loads(text)
        assert (answer["apiVersion"], answer["kind"], answer["response"]["uid"]) == ("admission.k8s.io/v1", "AdmissionReview", "a-b-c")
        return answer["response"], patched(pod, answer["response"])

    def end(self):
        for process in self.started:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def webhook(tmp_path_factory):
    processes = Processes(tmp_path_factory.mktemp("webhook"))
    yield processes
    processes.end()


def patched(pod, response):
    """By RFC 6902, of which `add` to members of objects is used."""
    if "patch" not in response:
        return pod
    assert response["patchType"] == "JSONPatch"
    pod = copy.deepcopy(pod)
    for step in json.loads(base64.b64decode(response["patch"])):
        assert step["op"] == "add"
        *parents, last = step["path"].split("/")[1:]
        where = pod
        for name in parents:
            where = where[int(name)] if isinstance(where, list) else where[name]
        where[last] = step["value"]
    return pod


def pod_of(spec=None, **more):
    annotations = {"annotations": {"tidemark/spec": spec if isinstance(spec, str) else json.dumps({"model": SMALL, "batch": 2, "seq": 128, **spec})}} if spec is not None else {}
    return {"metadata": {"name": "train", **annotations}, "spec": {"containers": [{"name": "train", "image": "train"}], **more}}


def terms_of(pod):
    return pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]


def product_in(products):
    return {"key": "nvidia.com/gpu.product", "operator": "In", "values": products}


def predicted(tmp_path, card, **spec):
    (tmp_path / "spec.json").write_text(json.dumps({"model": SMALL, "batch": 2, "seq": 128, **spec}))
    # Of releases that nobody names the newest are meant, as in the server: no environment is active.
    done = subprocess.run([TIDEMARK, "predict", "--spec", tmp_path / "spec.json", "--gpu", card, "--quiet", "--json", "-"], capture_output=True, text=True, env={"PATH": str(tmp_path), "VIRTUAL_ENV": str(tmp_path)})
    return json.loads(done.stdout)["peak"]["device_bytes"]


def test_a_pod_gets_what_its_spec_needs(webhook, tmp_path):
    response, pod = webhook.admit(pod_of({}))
    assert response["allowed"] and "warnings" not in response
    assert pod["spec"]["containers"] == [{"name": "train", "image": "train", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]
    assert terms_of(pod) == [{"matchExpressions": [product_in(ALL)]}]
    peak = max(predicted(tmp_path, card) for card in CARDS.values())
    assert pod["metadata"]["labels"] == {"tidemark/gpu-memory-mib": str(-(-peak // 2**20))}


def test_nodes_whose_cards_are_too_small_are_left_out(webhook):
    assert terms_of(webhook.admit(pod_of({"batch": 12000}))[1]) == [{"matchExpressions": [product_in(["NVIDIA-H100-80GB-HBM3"])]}]


def test_gpus_of_one_pod(webhook):
    for keys, gpus in (({"gpus": 4}, "4"), ({"gpus": 8, "gpus_per_node": 2}, "2")):
        assert webhook.admit(pod_of({**keys, "parallel": "zero2"}))[1]["spec"]["containers"][0]["resources"]["limits"] == {"nvidia.com/gpu": gpus}


def test_what_the_pod_says_itself_holds(webhook):
    zone = {"key": "zone", "operator": "In", "values": ["a"]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [zone]}, {"matchFields": []}]}}, "podAntiAffinity": {"x": 1}}
    containers = [{"name": "logs", "image": "logs"}, {"name": "train", "image": "train", "resources": {"limits": {"nvidia.com/gpu": 1, "memory": "64Gi"}, "requests": {"cpu": 8}}}]
    _, pod = webhook.admit(pod_of({}, affinity=affinity, containers=containers, nodeSelector={"nvidia.com/gpu.product": "NVIDIA-L4"}))
    assert pod["spec"]["containers"] == containers and pod["spec"]["affinity"]["podAntiAffinity"] == {"x": 1}
    assert terms_of(pod) == [{"matchExpressions": [zone, product_in(ALL)]}, {"matchFields": [], "matchExpressions": [product_in(ALL)]}]


@pytest.mark.parametrize(
    "spec, more, said",
    [
        ({"batch": 999999}, {}, "the training fits on no card of this cluster; NVIDIA-L4: does not fit: out of memory"),
        ({"batsch": 1}, {}, "did you mean batch?"),
        ("{", {}, "is not JSON"),
        ("[1]", {}, "no object"),
        ({"gpus": 2, "parallel": "ddp"}, {"containers": [{"name": "train", "resources": {"limits": {"nvidia.com/gpu": "8"}}}]}, "asks for 8 GPUs, and the spec trains on 2"),
        ({"batch": 12000}, {"nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-L4"}}, "does not fit on NVIDIA-L4"),
        ({"model": "meta-llama/Llama-3.1-8B"}, {}, "model"),
        ({"model": "/etc/passwd"}, {}, "model"),
    ],
)
def test_what_cannot_be_is_refused(webhook, spec, more, said):
    response, _ = webhook.admit(pod_of(spec, **more))
    assert not response["allowed"] and response["status"]["code"] == 422 and "patch" not in response
    assert response["status"]["message"].startswith("tidemark: ") and said in response["status"]["message"]


def test_what_is_not_known_keeps_no_pod_back(webhook, tmp_path):
    response, _ = webhook.admit(pod_of({"model": {"model_type": "nope"}}))
    assert response["allowed"] and "patch" not in response and response["warnings"][0].startswith("tidemark: not looked at: ")
    for cards, server in (({"NVIDIA-L4": "l4"}, "http://127.0.0.1:1"), ({"NVIDIA-L4": "l44"}, None)):
        alone = Processes(tmp_path, cards, server)
        try:
            response, _ = alone.admit(pod_of({}))
            assert response["allowed"] and "patch" not in response and "not looked at" in response["warnings"][0]
        finally:
            alone.end()


def test_other_pods_and_other_bodies(webhook):
    assert webhook.admit(pod_of()) == ({"uid": "a-b-c", "allowed": True}, pod_of())
    for body in ("", "{", "[]", "{}", '{"request": {}}', '{"request": {"uid": 1, "object": {"metadata": {"annotations": {"tidemark/spec": "{}"}}, "spec": {"containers": []}}}}'):
        assert webhook.ask(body)[0] in (200, 400)
    assert webhook.ask("", "/health", "GET")[0] == 200 and webhook.ask("", "/", "GET")[0] == 404


@pytest.mark.skipif(not has("kubernetes_validate"), reason="Kubernetes' schemas are not installed: tools/requirements/integrations.txt")
def test_the_manifests_follow_the_schemas():
    code = """
import sys, yaml, kubernetes_validate
checked = []
for manifest in yaml.safe_load_all(open(sys.argv[1])):
    if "cert-manager" not in manifest["apiVersion"]:      # theirs is no schema of Kubernetes
        kubernetes_validate.validate(manifest, "1.33", strict=True)
        checked.append(manifest["kind"])
print(*checked)
"""
    done = subprocess.run([PYTHON, "-c", code, HERE / "webhook.yaml"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["Namespace", "ConfigMap", "Deployment", "Service", "MutatingWebhookConfiguration"]
