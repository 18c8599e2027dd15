"""Starts a function against a stand-in for Lambda's Runtime API, and checks its answers to a request for the page and for an answer.

Usage: start_function.py COMMAND…: the function's program, with an emulator of its processor before it.
"""

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# How long an emulated function may take to start and to answer.
SECONDS = 120


def event(method, path):
    http = {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "203.0.113.7", "userAgent": "suite"}
    context = {"accountId": "1", "apiId": "a", "domainName": "a.lambda-url.eu-west-1.on.aws", "domainPrefix": "a", "http": http, "requestId": "r", "routeKey": "$default", "stage": "$default", "time": "01/Jan/2026:00:00:00 +0000", "timeEpoch": 1767225600000}
    return {"version": "2.0", "routeKey": "$default", "rawPath": path, "rawQueryString": "", "headers": {"host": "a", "content-type": "application/json"}, "requestContext": context, "body": '{"message":"hello"}', "isBase64Encoded": False}


# Requests with the wanted status and a text of the body.
REQUESTS = [(event("GET", "/healthz"), 200, b""), (event("GET", "/"), 200, b"<html"), (event("POST", "/api/chat"), 401, b"unauthorized")]


class RuntimeApi(BaseHTTPRequestHandler):
    """Gives each event once, collects what comes back, and then gives none."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if len(self.server.answers) == len(self.server.requests):
            # The function is ready for the next event.
            self.server.done.set()
            self.server.closed.wait(SECONDS)
            return
        number = len(self.server.answers)
        body = json.dumps(self.server.requests[number][0]).encode()
        self.send_response(200)
        for name, value in {"Lambda-Runtime-Aws-Request-Id": f"request-{number}", "Lambda-Runtime-Deadline-Ms": "4102444800000", "Lambda-Runtime-Invoked-Function-Arn": "arn:aws:lambda:eu-west-1:123456789012:function:chat:live", "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.server.answers.append((self.path, {name.lower(): value for name, value in self.headers.items()}, self.body()))
        self.send_response(202)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        found = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            found += self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass  # trailers
        return found

    def log_message(self, *_):
        pass


def faults(requests, answers):
    for (_, status, text), (path, headers, body) in zip(requests, answers):
        prelude, _, content = body.partition(b"\0" * 8)
        if not path.endswith("/response") or headers.get("lambda-runtime-function-response-mode") != "streaming":
            yield f"{path} gets {headers}: {body[:200]}"
        elif json.loads(prelude)["statusCode"] != status or text not in content:
            yield f"expected {status} with {text}, got {prelude} {content[:200]}"


def start(command, given, requests=REQUESTS):
    """What is wrong with a function's answers to requests, with these variables in addition to those that Lambda sets."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), RuntimeApi)
    server.requests, server.answers, server.done, server.closed = requests, [], threading.Event(), threading.Event()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    variables = {"AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{server.server_port}", "AWS_LAMBDA_FUNCTION_NAME": "chat", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "256", "AWS_LAMBDA_FUNCTION_VERSION": "1", "AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
    program = subprocess.Popen(command, env=variables | given | {"PATH": os.environ["PATH"]}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    done = server.done.wait(SECONDS)
    server.closed.set()
    program.kill()
    output = program.communicate()[0].decode(errors="replace")
    server.shutdown()
    if not done:
        return [f"it answers {len(server.answers)} of {len(requests)} requests: {output[-1000:]}"]
    found = list(faults(requests, server.answers))
    errors = [line for line in output.splitlines() if '"ERROR"' in line]
    return found and [*found, f"its log has {errors}"]


def main():
    found = start(sys.argv[1:], {"DATA_TABLE": "lambda-chat-data", "EPHEMERAL_TABLE": "lambda-chat-ephemeral", "AUTH": "api_key"})
    for fault in found:
        print(f"  {fault}")
    if found:
        sys.exit(1)
    print(f"  ok: {len(REQUESTS)} requests are answered as streams")


if __name__ == "__main__":
    main()
