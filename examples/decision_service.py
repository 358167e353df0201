"""Decisions over HTTP, in plain Python: POST /decide, POST /report, GET /metrics, and a journal."""

import json
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
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


with tempfile.TemporaryDirectory() as folder:  # a service would name a folder that stays
    Service.decider.journal(f"{folder}/service.journal")  # begun, or taken up after a crash
    with ThreadingHTTPServer(("127.0.0.1", 0), Service) as server:
        threading.Thread(target=server.serve_forever).start()
        asked, told = {"id": "order-17"}, {"decision": "order-17", "reward": 9.0}
        for path, content in (("decide", asked), ("report", told), ("report", told)):
            address, body = f"http://127.0.0.1:{server.server_port}/{path}", json.dumps(content)
            print(path, urlopen(address, body.encode(), timeout=60).read().decode())
        server.shutdown()
    Service.decider.close()
