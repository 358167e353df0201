"""Serve decisions over HTTP, with a journal.

Plain Python: POST /decide, POST /report, GET /metrics. A report sent twice counts once."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from tempfile import TemporaryDirectory
from urllib.request import urlopen

import hannan as hn


class Service(BaseHTTPRequestHandler):
    decider = hn.Decider(actions=["red", "green"], rewards=(0, 10), baseline="red", seed=0)

    def do_POST(self):
        call = {"/decide": self.decider.decide, "/report": self.decider.report}[self.path]
        made = call(**json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.answer({"learned": made} if self.path == "/report" else {"action": made.action})

    def do_GET(self):
        self.answer(self.decider.metrics())

    def answer(self, content):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(content).encode())

    def log_message(self, *args): ...


with TemporaryDirectory() as folder, ThreadingHTTPServer(("127.0.0.1", 0), Service) as server:
    Service.decider.journal(f"{folder}/service.journal")  # in a service, use a permanent folder
    threading.Thread(target=server.serve_forever).start()
    url, report = f"http://127.0.0.1:{server.server_port}/", {"decision": "order-17", "reward": 9.0}
    for path, content in (("decide", {"id": "order-17"}), ("report", report), ("report", report)):
        print(path, urlopen(url + path, json.dumps(content).encode(), timeout=60).read().decode())
    server.shutdown()
    Service.decider.close()
