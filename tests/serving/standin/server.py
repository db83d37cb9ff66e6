"""server.py LENGTH PORT [broken]: an engine in a separate process, and the HTTP server before it; `broken` answers no completion."""

import json
import multiprocessing
import sys
import time
from types import SimpleNamespace

import torch  # noqa: F401  (as vLLM's server has it)
import uvicorn


def engine(length, started):
    from vllm.v1.engine.core import EngineCore

    config = SimpleNamespace(cache_config=SimpleNamespace(), scheduler_config=SimpleNamespace(max_num_seqs=256), model_config=SimpleNamespace(max_model_len=length))
    core = EngineCore(config)
    started.set()
    while core:
        time.sleep(0.05)


class Application:
    """Ready only when asked the third time."""

    state = SimpleNamespace(engine_client=object())
    asked = 0

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            return await self._live(receive, send)
        self.asked += 1
        body, more = b"", scope["method"] == "POST"
        while more:
            message = await receive()
            body, more = body + message["body"], message.get("more_body")
        status, answer = self._answer(scope["path"], body)
        await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", b"application/json")]})
        await send({"type": "http.response.body", "body": json.dumps(answer).encode()})

    async def _live(self, receive, send):
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        await send({"type": "lifespan.shutdown.complete"})

    def _answer(self, path, body):
        if path == "/health":
            return (200 if self.asked > 2 else 503), {}
        if path == "/v1/models":
            return 200, {"data": [{"id": "made", "max_model_len": LENGTH}]}
        asked = json.loads(body)
        print("request", asked["model"], len(asked["prompt"]), asked["max_tokens"], flush=True)
        return (500, {"error": {"message": "no tokens today"}}) if "broken" in sys.argv else (200, {"choices": []})


if __name__ == "__main__":
    LENGTH = int(sys.argv[1])
    context = multiprocessing.get_context("spawn")
    started = context.Event()
    process = context.Process(target=engine, args=(LENGTH, started), daemon=True)
    process.start()
    while not started.wait(0.1):
        if not process.is_alive():
            sys.exit("Engine core initialization failed")
    uvicorn.run(Application(), host="0.0.0.0", port=int(sys.argv[2]), log_level="warning")
