"""Decisions over HTTP, in plain Python: POST /decide, POST /report, GET /metrics.

The journal makes it safe to kill: started again, the service goes on where it was. Run with a
folder for the journal to serve until Ctrl-C; without, it plays a short game with itself.
"""

import json
import sys
import tempfile
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import hannan as hn


def make(folder):
    """The Decider of this service; its journal is begun, or taken up."""
    d = hn.Decider(actions=["red", "green"], rewards=(0, 10), baseline="red", seed=0)
    d.journal(Path(folder) / "service.journal")
    d.warm_up({"age": 31, "city": "Rome"})  # so that the first request does not wait for compilers
    return d


class Handler(BaseHTTPRequestHandler):
    decider: hn.Decider

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            if self.path == "/decide":
                made = self.decider.decide(asked.get("context"), id=asked.get("id"))
                self.answer({"id": made.id, "action": made.action, "propensity": made.propensity})
            elif self.path == "/report":
                self.answer({"learned": self.decider.report(asked["id"], reward=asked["reward"])})
            else:
                self.answer({"error": "no such call"}, 404)
        except hn.HannanError as error:  # refused: nothing has changed
            self.answer({"error": str(error)}, 422)

    def do_GET(self):
        self.decider.expire(older_than=3600, reward=0.0)  # an hour without an answer means no
        self.answer(self.decider.metrics())

    def answer(self, content, status=200):
        text = json.dumps(content, default=str).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args):
        pass


def serve(folder, port):
    handler = type("Bound", (Handler,), {"decider": make(folder)})
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def ask(server, path, content):
    address = f"http://127.0.0.1:{server.server_address[1]}{path}"
    body = None if content is None else json.dumps(content).encode()
    with urllib.request.urlopen(urllib.request.Request(address, body), timeout=60) as answer:
        return json.loads(answer.read())


def stop(server):
    server.shutdown()
    server.server_close()
    server.RequestHandlerClass.decider.close()


if len(sys.argv) > 1:
    service = serve(sys.argv[1], 8000)
    threading.Event().wait()

with tempfile.TemporaryDirectory() as folder:
    service = serve(folder, 0)
    for n in range(40):
        made = ask(
            service, "/decide", {"context": {"age": 20 + n, "city": None}, "id": f"order-{n}"}
        )
        if n % 2 == 0:
            reward = 9.0 if made["action"] == "green" else 2.0
            ask(service, "/report", {"id": made["id"], "reward": reward})
    stop(service)

    service = serve(folder, 0)  # as after a crash
    known = ask(service, "/metrics", None)
    print(f"{known['decisions']} decisions, {known['answered']} answered, {known['open']} open")
    print("a late report is learned:", ask(service, "/report", {"id": "order-1", "reward": 9.0}))
    print("and again changes nothing:", ask(service, "/report", {"id": "order-1", "reward": 9.0}))
    stop(service)
