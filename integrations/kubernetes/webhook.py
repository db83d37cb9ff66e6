#!/usr/bin/env python3
"""A mutating admission webhook: a pod that carries its spec gets the GPUs that the spec trains on, and nodes whose cards it fits.

    webhook.py CARDS.json [--port 8443] [--certificate FILE --key FILE] [--server http://127.0.0.1:8080]

CARDS.json says {value of the label nvidia.com/gpu.product: a card of `tidemark gpus`}.  `tidemark serve` answers, beside this process: what
comes in is anybody's, and it has the limits for that.  AdmissionReview: kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers;
labels: github.com/NVIDIA/k8s-device-plugin, docs/gpu-feature-discovery.  Python's standard library alone.
"""

import argparse
import base64
import concurrent.futures
import copy
import http.client
import http.server
import json
import ssl
import urllib.parse

SPEC = "tidemark/spec"  # the pod's annotation: JSON
MEMORY = "tidemark/gpu-memory-mib"  # the label that it gets: the peak of the rank that needs most, rounded up
GPU, PRODUCT = "nvidia.com/gpu", "nvidia.com/gpu.product"
MIB = 1 << 20
LARGEST_BODY_BYTES = 8 << 20  # an object of Kubernetes is of 1.5 MiB at most


class Refused(Exception):
    """The pod is not created, and its author reads why."""


class NotKnown(Exception):
    """No reason to keep the pod back: it is created as it is, with a warning."""


def ask(server, spec, card):
    """The report of every rank on one card."""
    where = urllib.parse.urlsplit(server)
    connection = http.client.HTTPConnection(where.hostname, where.port, timeout=8)
    try:
        connection.request("POST", "/v1/predict", json.dumps({"spec": {**spec, "gpu": card}, "all_ranks": True}))
        answer = connection.getresponse()
        status, text = answer.status, answer.read()
    except (OSError, http.client.HTTPException) as error:
        raise NotKnown(f"tidemark serve does not answer: {error}") from error
    finally:
        connection.close()
    values = json.loads(text)
    if status == 200:
        return values
    error = values["error"]
    words = ": ".join(part for part in (error["where"], error["message"]) if part) + (f" ({error['hint']})" if error["hint"] else "")
    raise (Refused if status == 400 and "gpu" not in error["where"] else NotKnown)(words)  # the card is of CARDS.json, not of the pod


def placed(server, cards, text):
    """What a spec asks for: products that fit, GPUs of one pod, and the highest peak on any of them."""
    try:
        spec = json.loads(text)
    except ValueError as error:
        raise Refused(f"the annotation {SPEC} is not JSON: {error}") from error
    if not isinstance(spec, dict):
        raise Refused(f"the annotation {SPEC} is no object with the keys of a spec")
    with concurrent.futures.ThreadPoolExecutor(len(cards)) as pool:  # the API server waits for 10 s
        reports = dict(zip(cards, pool.map(lambda card: ask(server, spec, card), cards.values())))
    fitting = {product: report for product, report in reports.items() if report["fits"] is True}
    if not fitting:
        raise Refused("; ".join(["the training fits on no card of this cluster", *(f"{product}: {report['verdict']}" for product, report in reports.items())]))
    rank = next(iter(fitting.values())).get("rank") or {"ranks": 1, "ranks_per_node": 1}
    peaks = [row["peak"]["device_bytes"] for report in fitting.values() for row in report.get("ranks") or [report]]
    return sorted(fitting), min(rank["ranks"], rank["ranks_per_node"]), max(peaks)


def container_for(pod):
    """The index of the container that trains: the one that asks for GPUs, else the first."""
    asking = [index for index, container in enumerate(pod["spec"]["containers"]) if GPU in container.get("resources", {}).get("limits", {})]
    return asking[0] if asking else 0


def changed(pod, products, gpus, peak_bytes):
    """The pod as it should be.  What it asks for itself holds."""
    pod = copy.deepcopy(pod)
    container = pod["spec"]["containers"][container_for(pod)]
    limits = container.setdefault("resources", {}).setdefault("limits", {})
    if str(limits.setdefault(GPU, str(gpus))) != str(gpus):
        raise Refused(f"container {container['name']} asks for {limits[GPU]} GPUs, and the spec trains on {gpus} in one pod")
    pod["metadata"].setdefault("labels", {})[MEMORY] = str(-(-peak_bytes // MIB))
    chosen = pod["spec"].get("nodeSelector", {}).get(PRODUCT)
    if chosen is not None and chosen not in products:
        raise Refused(f"the training does not fit on {chosen}, which nodeSelector asks for, or it is not known here; it fits on {', '.join(products)}")
    node = pod["spec"].setdefault("affinity", {}).setdefault("nodeAffinity", {})
    required = node.setdefault("requiredDuringSchedulingIgnoredDuringExecution", {"nodeSelectorTerms": [{}]})
    for term in required["nodeSelectorTerms"]:  # of these any holds: each is narrowed
        term.setdefault("matchExpressions", []).append({"key": PRODUCT, "operator": "In", "values": products})
    return pod


def patch_between(before, after):
    """A JSON patch (RFC 6902) of the parts that `changed` changes, each as a whole."""
    index = container_for(before)
    paths = (("metadata", "labels"), ("spec", "affinity"), ("spec", "containers", index, "resources"))
    return [{"op": "add", "path": "/" + "/".join(map(str, path)), "value": _at(after, path)} for path in paths]


def _at(value, path):
    for key in path:
        value = value[key]
    return value


def review(server, cards, request):
    """The response to one AdmissionReview's request."""
    pod, response = request["object"], {"uid": request["uid"], "allowed": True}
    text = (pod["metadata"].get("annotations") or {}).get(SPEC)
    if text is None:
        return response
    try:
        patch = patch_between(pod, changed(pod, *placed(server, cards, text)))
    except Refused as why:
        return {**response, "allowed": False, "status": {"code": 422, "message": f"tidemark: {why}"}}
    except NotKnown as why:
        return {**response, "warnings": [f"tidemark: not looked at: {why}"[:256]]}
    return {**response, "patchType": "JSONPatch", "patch": base64.b64encode(json.dumps(patch).encode()).decode()}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version, timeout = "HTTP/1.1", 30

    def do_GET(self):
        self._answer(200 if self.path == "/health" else 404, b"")

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > LARGEST_BODY_BYTES:
            self.close_connection = True
            return self._answer(413, b"")
        try:
            asked = json.loads(self.rfile.read(int(length)))
            answer = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": review(self.server.asked, self.server.cards, asked["request"])}
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            return self._answer(400, f"no AdmissionReview of a pod: {error!r}".encode())
        return self._answer(200, json.dumps(answer).encode())

    def _answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, form, *values):
        pass


class Webhook(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port, cards, asked, certificate=None, key=None):
        super().__init__(("", port), Handler)
        self.cards, self.asked, self._context = cards, asked, None
        if certificate:
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._context.load_cert_chain(certificate, key)

    def finish_request(self, request, client_address):
        """In the connection's own thread: a handshake that never ends keeps nobody else waiting."""
        request.settimeout(Handler.timeout)
        with self._context.wrap_socket(request, server_side=True) if self._context else request as connection:
            super().finish_request(connection, client_address)

    def handle_error(self, request, client_address):
        pass  # a connection that was cut, or spoke no TLS


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cards", help='JSON: {"NVIDIA-H100-80GB-HBM3": "h100-80gb"}')
    parser.add_argument("--port", type=int, default=8443)
    parser.add_argument("--certificate")
    parser.add_argument("--key")
    parser.add_argument("--server", default="http://127.0.0.1:8080", help="tidemark serve")
    given = parser.parse_args()
    with open(given.cards, encoding="utf-8") as file:
        cards = json.load(file)
    webhook = Webhook(given.port, cards, given.server, given.certificate, given.key)
    print(f"listening on port {webhook.server_port}", flush=True)
    webhook.serve_forever()


if __name__ == "__main__":
    main()
