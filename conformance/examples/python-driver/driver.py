#!/usr/bin/env python3
"""A driver for axon-conformance that adapts AXON's own daemon through its socket.

    axon-conformance run --target 127.0.0.1:7100 \
        --driver 'python3 conformance/examples/python-driver/driver.py --socket ~/.axon/axon.sock'

It needs Python 3.8 or newer and nothing else. It speaks docs/driver.md on standard
input and output, and the daemon's local API on the socket. To adapt another
implementation, keep Suite and replace Daemon.

Payloads pass through as the text that came: Python's json module would turn 1e400
into infinity and drop all but the last of equal names.
"""

import argparse
import json
import os
import re
import socket
import sys
import threading

# An address is demanded for every peer; the suite's own key has none, since the
# suite only dials with it.
NO_ADDRESS = "127.0.0.1:9"

DECODER = json.JSONDecoder(strict=True)
BLANK = re.compile(r"[ \t\r\n]*")


def members(text):
    """The members of a JSON object, each as the text that stands there."""
    found = {}
    at = BLANK.match(text, text.index("{") + 1).end()
    while text[at] != "}":
        name, at = DECODER.raw_decode(text, at)
        at = BLANK.match(text, text.index(":", at) + 1).end()
        _, end = DECODER.raw_decode(text, at)
        found[name] = text[at:end]
        at = BLANK.match(text, end).end()
        if text[at] == ",":
            at = BLANK.match(text, at + 1).end()
    return found


def value(found, name, default=None):
    """A member as a Python value."""
    return json.loads(found[name]) if name in found else default


def line(**parts):
    """One JSON object on one line, of members that are JSON text already."""
    return "{" + ",".join(f"{json.dumps(name)}:{text}" for name, text in parts.items()) + "}\n"


class Refusal(Exception):
    """What the suite is told instead of an answer."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Session:
    """One connection to the daemon's local API."""

    def __init__(self, path, on_event):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.lines = self.socket.makefile("r", encoding="utf-8", errors="surrogateescape", newline="\n")
        self.on_event = on_event
        self.lock = threading.Lock()
        self.last = 0
        self.waiting = {}
        self.open = True
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        try:
            for text in self.lines:
                found = members(text)
                if "event" in found:
                    self.on_event(found)
                    continue
                with self.lock:
                    waiter = self.waiting.pop(value(found, "req_id"), None)
                if waiter:
                    waiter["answer"] = found
                    waiter["ready"].set()
        except (OSError, ValueError) as problem:
            print("the daemon's socket:", problem, file=sys.stderr)
        with self.lock:
            self.open = False
            left, self.waiting = self.waiting, {}
        for waiter in left.values():
            waiter["ready"].set()

    def ask(self, **parts):
        """Send a command and wait for its answer."""
        waiter = {"ready": threading.Event(), "answer": None}
        with self.lock:
            if not self.open:
                raise Refusal("driver_failed", "the daemon has closed the connection")
            self.last += 1
            number = str(self.last)
            self.waiting[number] = waiter
            text = line(**parts, req_id=json.dumps(number))
            self.socket.sendall(text.encode("utf-8", "surrogateescape"))
        waiter["ready"].wait()
        answer = waiter["answer"]
        if answer is None:
            raise Refusal("driver_failed", "the daemon closed the connection")
        if not value(answer, "ok"):
            raise Refusal(value(answer, "error"), value(answer, "message", ""))
        return answer

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


class Daemon:
    """The target: each method is a command of the suite."""

    def __init__(self, path, address, show):
        self.path, self.address, self.show = path, address, show
        self.main = Session(path, self.event)
        self.handler = None
        self.requests = {}  # who sent each open request, by its id in the suite's eyes

    def event(self, found):
        if value(found, "event") == "inbound":
            to = value(members(found["envelope"]), "to", "")
            self.show(event='"inbound"', **{"from": found["from"]}, to=json.dumps(to), envelope=found["envelope"])
        elif value(found, "event") == "request":
            # Two peers may use the same id.
            peer, request = value(found, "from"), value(found, "request_id")
            name = f"{peer}/{request}"
            self.requests[name] = (peer, request)
            self.show(event='"request"', request_id=json.dumps(name), **{"from": found["from"]}, envelope=found["envelope"])

    def hello(self, _):
        who = self.main.ask(cmd='"whoami"')
        answer = {
            "version": "1",
            "capabilities": '["enroll","drive","handle","observe"]',
            "implementation": json.dumps({"name": "axon", "version": value(who, "version", "")}),
        }
        if self.address:
            answer["target"] = json.dumps({"address": self.address, "public_key": value(who, "public_key")})
        return answer

    def enroll(self, command):
        address = command.get("address", json.dumps(NO_ADDRESS))
        self.main.ask(cmd='"add_peer"', pubkey=command["public_key"], addr=address)
        return {}

    def send(self, command):
        parts = {name: command[name] for name in ("kind", "to", "payload", "ref", "timeout_secs") if name in command}
        answer = self.main.ask(cmd='"send"', **parts)
        told = {"id": answer["msg_id"]}
        if "response" in answer:
            told["response"] = answer["response"]
        return told

    def serve(self, command):
        if "request_id" not in command:
            handler = Session(self.path, self.event)
            try:
                handler.ask(cmd='"serve"')
            except Refusal:
                handler.close()
                raise
            self.handler = handler
            return {}
        mode = value(command, "mode")
        if mode == "ignore":
            return {}
        if self.handler is None:
            raise Refusal("not_handler", "no handler is registered")
        peer, request = self.requests.pop(value(command, "request_id"))
        parts = {"request_id": json.dumps(request), "peer": json.dumps(peer)}
        if mode == "decline":
            self.handler.ask(cmd='"decline"', **parts)
        else:
            kind = '"error"' if mode == "error" else '"response"'
            self.handler.ask(cmd='"reply"', kind=kind, payload=command["payload"], **parts)
        return {}

    def unserve(self, _):
        if self.handler:
            self.handler.close()
            self.handler = None
            self.requests.clear()
        return {}

    def stop(self, _):
        # The daemon was running before this driver came, and stays.
        return {}


class Suite:
    """The other side: lines of the suite in, answers and events out."""

    COMMANDS = ("hello", "enroll", "send", "serve", "unserve", "stop")

    def __init__(self):
        self.lock = threading.Lock()

    def write(self, **parts):
        text = line(**parts).encode("utf-8", "surrogateescape")
        with self.lock:
            sys.stdout.buffer.write(text)
            sys.stdout.buffer.flush()

    def run(self, daemon):
        for text in sys.stdin.buffer:
            # The answer to a request may take its time, so commands run side by side.
            command = members(text.decode("utf-8", "surrogateescape"))
            worker = threading.Thread(target=self.carry_out, args=(daemon, command), daemon=True)
            worker.start()
            if value(command, "command") == "stop":
                worker.join()
                return

    def carry_out(self, daemon, command):
        name = value(command, "command")
        try:
            if name not in self.COMMANDS:
                raise Refusal("unsupported", f"there is no command {name}")
            answer = getattr(daemon, name)(command)
        except Refusal as refused:
            answer = {"error": json.dumps({"code": refused.code, "message": str(refused)})}
        except Exception as problem:  # whatever it is, the suite has to be told
            answer = {"error": json.dumps({"code": "driver_failed", "message": repr(problem)})}
        self.write(answer=command["command"], number=command["number"], **answer)


def main():
    parser = argparse.ArgumentParser(description="Let axon-conformance drive an AXON daemon.")
    parser.add_argument("--socket", default=os.path.expanduser("~/.axon/axon.sock"), help="the daemon's local API")
    parser.add_argument("--address", help="HOST:PORT at which the daemon listens, so that the suite needs no --target")
    options = parser.parse_args()
    suite = Suite()
    try:
        daemon = Daemon(options.socket, options.address, suite.write)
    except OSError as problem:
        sys.exit(f"no daemon at {options.socket}: {problem}; start one with 'axon daemon'")
    suite.run(daemon)


if __name__ == "__main__":
    main()
