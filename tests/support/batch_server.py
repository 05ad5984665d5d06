"""The loopback server with batches: OpenAI's files and batches, and Anthropic's message batches, with faults on plan.

::

    with BatchServer(labels=["Good", "Bad"]) as server:
        server.plan.expired = {3}                   # the fourth line of the next batch expires
        engine = ...                                # base_url=server.base_url, batch=True
    assert max(server.answered.values()) == 1       # nothing was bought twice
"""

import asyncio
import json
import random
import time
from collections import Counter
from dataclasses import dataclass, field

from aiohttp import web

from tests.support.server import JudgeServer


@dataclass
class Plan:
    """What goes wrong with the batches that are made from now on; lines are numbered from 0."""

    hold: bool = False  # a batch ends only when `finish` is called
    expired: set = field(default_factory=set)
    cancelled: set = field(default_factory=set)
    failed: dict = field(default_factory=dict)  # line -> (status, message)
    missing: set = field(default_factory=set)  # lines that are in no file, and not counted as done
    refused: str = ""  # why the whole batch is refused
    create_fault: tuple = ()  # (status, message) when a batch is to be made
    create_lost: int = 0  # the number of times that the connection breaks after a batch was made
    create_unmade: int = 0  # and before
    stall_upload: bool = False
    stall_create: bool = False  # nothing is answered and no batch is made
    shuffled: bool = False
    lost_output: bool = False
    stall_results: int = 0  # the number of lines after which nothing more comes
    once: bool = True  # what is planned for lines holds for the next batch alone


@dataclass
class Batch:
    name: str
    kind: str
    lines: list
    plan: Plan
    file: str = ""
    created: float = 0.0
    status: str = "in_progress"
    output: list = field(default_factory=list)
    errors: list = field(default_factory=list)


class BatchServer(JudgeServer):
    """The loopback server with both interfaces of batches.

    Attributes:
        plan: What goes wrong with the batches that are made from now on.
        submitted: Key -> the number of batches that it was in.
        answered: Key -> how often it was answered in a batch, and so has to be paid for.
        events: Kind of request -> how often it came.
    """

    def __init__(self, **given):
        super().__init__(**given)
        self.plan = Plan()
        self.files = {}
        self.by_name = {}
        self.submitted = Counter()
        self.answered = Counter()
        self.events = Counter()

    @property
    def batches(self):
        return list(self.by_name.values())

    def finish(self):
        """All batches end."""

        async def end():
            self.plan.hold = False
            for batch in self.batches:
                self._end(batch)

        asyncio.run_coroutine_threadsafe(end(), self._loop).result(10)

    async def handle(self, request):
        path = request.path.removeprefix("/v1").strip("/")
        self.events[f"{request.method} {path.split('/')[0]}"] += 1
        request._client_max_size = 2**30
        kind = "anthropic" if path.startswith("messages/batches") else "openai"
        *_, place, name = ["", *path.removeprefix("messages/").split("/")]
        if path in {"chat/completions", "messages", "models"} or path.startswith("_"):
            answer = super().handle(request)
        elif path.startswith("files"):
            answer = self._upload(request) if request.method == "POST" else self._file(request, path.split("/")[1])
        elif request.method == "POST":
            answer = self._create(request, kind)
        elif name == "results":
            batch = self.by_name[place]
            answer = self._lines(request, batch.output, batch)
        else:
            answer = self._look(name)
        return await answer

    # files

    async def _upload(self, request):
        if self.plan.stall_upload:
            await self.stopping.wait()
        form = await request.post()
        assert form["purpose"] == "batch"
        name = f"file-{len(self.files) + 1}"
        self.files[name] = form["file"].file.read().decode()
        made = {"id": name, "object": "file", "purpose": "batch", "status": "processed", "created_at": 0}
        return web.json_response(made | {"bytes": len(self.files[name]), "filename": form["file"].filename})

    async def _file(self, request, name):
        content = self.files.get(name)
        if content is None:
            return web.json_response({"error": {"message": f"No such File object: {name}"}}, status=404)
        batch = next(each for each in self.batches if name in (f"out-{each.name}", f"err-{each.name}"))
        return await self._lines(request, content, batch)

    async def _lines(self, request, lines, batch):
        response = web.StreamResponse()
        await response.prepare(request)
        for place, line in enumerate(lines):
            if batch.plan.stall_results and place == batch.plan.stall_results:
                self.events["stalled"] += 1
                await self.stopping.wait()
            await response.write(json.dumps(line).encode() + b"\n")
        await response.write_eof()
        return response

    # batches

    async def _read_openai(self, request):
        body = await request.json()
        assert body["endpoint"] == "/v1/chat/completions"
        assert body["completion_window"] == "24h"
        lines = [json.loads(line) for line in self.files[body["input_file_id"]].splitlines()]
        assert all(line["url"] == body["endpoint"] and line["method"] == "POST" for line in lines)
        return lines, body["input_file_id"]

    async def _read_anthropic(self, request):
        lines = (json.loads(await request.read()))["requests"]
        assert all(len(line["custom_id"]) <= 64 and line["params"]["max_tokens"] for line in lines)
        return lines, ""

    async def _create(self, request, kind):
        plan = self.plan
        lines, file = await getattr(self, f"_read_{kind}")(request)
        if plan.create_fault:
            status, message = plan.create_fault
            return web.json_response({"error": {"message": message}}, status=status)
        if plan.create_unmade:
            plan.create_unmade -= 1
            request.transport.abort()
            return web.Response()
        if plan.stall_create:
            self.events["stalled"] += 1
            await self.stopping.wait()
        name = f"{'msgbatch_' if kind == 'anthropic' else 'batch_'}{len(self.by_name) + 1}"
        batch = Batch(name, kind, lines, plan, file, time.time())
        self.by_name[name] = batch
        self.submitted.update(line["custom_id"] for line in lines)
        if plan.once:
            self.plan = Plan(hold=plan.hold)
        if not plan.hold:
            self._end(batch)
        if plan.create_lost:
            plan.create_lost -= 1
            request.transport.abort()
            return web.Response()
        return web.json_response(self._shown(batch))

    def _end(self, batch):
        """The provider has worked it off."""
        if batch.status != "in_progress":
            return
        plan = batch.plan
        if plan.refused:
            batch.status = "failed"
            return
        outcome = self._openai_line if batch.kind == "openai" else self._anthropic_line
        for place, line in enumerate(batch.lines):
            if place not in plan.missing:
                outcome(batch, place, line)
        for lines in (batch.output, batch.errors):
            if plan.shuffled:
                random.Random(0).shuffle(lines)
        if batch.kind == "openai":
            if not plan.lost_output:
                self.files[f"out-{batch.name}"] = batch.output
            self.files[f"err-{batch.name}"] = batch.errors
        batch.status = "expired" if plan.expired else "cancelled" if plan.cancelled else "completed"

    def _openai_line(self, batch, place, line):
        plan, key = batch.plan, line["custom_id"]
        if place in plan.expired or place in plan.cancelled:
            code = "batch_expired" if place in plan.expired else "batch_cancelled"
            error = {"code": code, "message": "This request could not be executed in time."}
            batch.errors.append({"id": "x", "custom_id": key, "response": None, "error": error})
        elif place in plan.failed:
            status, message = plan.failed[place]
            response = {"status_code": status, "request_id": "r", "body": {"error": {"message": message}}}
            batch.errors.append({"id": "x", "custom_id": key, "response": response, "error": None})
        else:
            self.answered[key] += 1
            response = {"status_code": 200, "request_id": "r", "body": self._payload(line["body"], ())}
            batch.output.append({"id": "x", "custom_id": key, "response": response, "error": None})

    def _anthropic_line(self, batch, place, line):
        plan, params = batch.plan, line["params"]
        if place in plan.expired or place in plan.cancelled:
            result = {"type": "expired" if place in plan.expired else "canceled"}
        elif place in plan.failed:
            kinds = {400: "invalid_request_error", 500: "api_error", 503: "overloaded_error"}
            status, message = plan.failed[place]
            error = {"type": kinds[status], "message": message}
            result = {"type": "errored", "error": {"type": "error", "error": error}}
        else:
            self.answered[line["custom_id"]] += 1
            body = self._payload({**params, "messages": params["messages"]}, ())
            choice = body["choices"][0]
            message = {
                "id": "msg_x",
                "type": "message",
                "role": "assistant",
                "model": params["model"],
                "content": [{"type": "text", "text": choice["message"]["content"]}],
                "stop_reason": {"stop": "end_turn", "length": "max_tokens"}[choice["finish_reason"]],
                "usage": {
                    "input_tokens": body["usage"]["prompt_tokens"] + len(params.get("system", "").split()),
                    "output_tokens": body["usage"]["completion_tokens"],
                },
            }
            result = {"type": "succeeded", "message": message}
        batch.output.append({"custom_id": line["custom_id"], "result": result})

    def _shown(self, batch):
        total, done = len(batch.lines), len({line["custom_id"] for line in batch.output})
        if batch.kind == "anthropic":
            succeeded = len({each["custom_id"] for each in batch.output if each["result"]["type"] == "succeeded"})
            ended = batch.status != "in_progress"
            return {
                "id": batch.name,
                "type": "message_batch",
                "processing_status": "ended" if ended else "in_progress",
                "request_counts": {
                    "processing": 0 if ended else total,
                    "succeeded": succeeded,
                    "errored": total - succeeded if ended else 0,
                    "canceled": 0,
                    "expired": 0,
                },
                "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(batch.created)),
                "results_url": "https://elsewhere.example.org/results",
            }
        code, _, message = batch.plan.refused.partition(": ")
        errors = [{"code": code, "message": message, "line": None}]
        ended = batch.status in {"completed", "expired", "cancelled"}
        return {
            "id": batch.name,
            "object": "batch",
            "status": batch.status,
            "input_file_id": batch.file,
            "output_file_id": f"out-{batch.name}" if ended else None,
            "error_file_id": f"err-{batch.name}" if ended and batch.errors else None,
            "errors": {"object": "list", "data": errors} if batch.status == "failed" else None,
            "created_at": int(batch.created),
            "completion_window": "24h",
            "endpoint": "/v1/chat/completions",
            "request_counts": {"total": total, "completed": done, "failed": len(batch.errors)},
        }

    async def _look(self, name):
        batch = self.by_name.get(name)
        if batch is None:
            return web.json_response({"error": {"message": f"No batch found with id {name!r}"}}, status=404)
        self.events[f"look {name}"] += 1
        return web.json_response(self._shown(batch))
