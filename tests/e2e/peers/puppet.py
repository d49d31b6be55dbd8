"""What the puppets in Python have in common: they are told what to do in lines of JSON, and tell what they see.

A request is {"id", "do", ...arguments}; its answer is {"id", "ok"} or {"id", "error"}. What the client sees comes without
an id, as {"event", ...}. Names are in camel case on the wire and in snake case here. When standard input ends, so does the
program.
"""

import asyncio
import base64
import hashlib
import json
import logging
import os
import re
import shutil
import sys

REQUEST_LIMIT = 64 * 2**20
POLL_SECONDS = 0.02


class PuppetError(Exception):
    """What a request can't be met for, told to the one who asked."""


def to_snake(name):
    return re.sub(r"[A-Z]", lambda match: "_" + match.group().lower(), name)


class Puppet:
    """A client that does what it is told; a method `do_x` is the verb `x`."""

    def __init__(self):
        self.session = None
        self.store = None
        self._out = sys.stdout
        sys.stdout = sys.stderr  # a library that prints does not write into the protocol

    # The protocol

    def tell(self, line):
        self._out.write(json.dumps(line, separators=(",", ":"), default=str) + "\n")
        self._out.flush()

    def event(self, kind, **fields):
        self.tell({"event": kind, **fields})

    async def run(self):
        logging.basicConfig(level=os.environ.get("PUPPET_LOG", "WARNING"), stream=sys.stderr)
        reader = asyncio.StreamReader(limit=REQUEST_LIMIT)
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        tasks = set()
        while line := await reader.readline():
            request = json.loads(line)
            task = asyncio.create_task(self._serve(request))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            if request["do"] == "quit":
                await task
                break
        await self.close()

    async def _serve(self, request):
        id, verb = request.pop("id"), request.pop("do")
        try:
            method = getattr(self, "do_" + to_snake(verb), None)
            if method is None:
                raise PuppetError(f"Cannot {verb}: this peer has no such verb")
            self.tell({"id": id, "ok": await method(**{to_snake(key): value for key, value in request.items()})})
        except Exception as error:
            if not isinstance(error, PuppetError):
                logging.exception("%s failed", verb)
            self.tell({"id": id, "error": f"{type(error).__name__}: {error}"})

    # Waiting for what a sync brings

    async def until(self, condition):
        """Waits until the condition, an async function, holds: the libraries do not tell of all that changes."""
        while not await condition():
            await asyncio.sleep(POLL_SECONDS)

    # Verbs that need no client

    async def do_login(self, homeserver, user_id, device_id, access_token, store):
        """Takes a session that exists; `start` opens it."""
        os.makedirs(store, exist_ok=True)
        self.session = {
            "homeserver": homeserver,
            "user_id": user_id,
            "device_id": device_id,
            "access_token": access_token,
        }
        self.store = store

    async def do_save_store(self, name):
        self._must_be_stopped()
        copy = self._copy(name)
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.store, copy)

    async def do_restore_store(self, name):
        self._must_be_stopped()
        shutil.rmtree(self.store)
        shutil.copytree(self._copy(name), self.store)

    async def do_quit(self):
        pass

    def _copy(self, name):
        return f"{self.store}.{name}"

    def _must_be_stopped(self):
        if self.running:
            raise PuppetError("Cannot touch the store: the client runs; stop it first")

    # What a client must have

    @property
    def running(self):
        raise NotImplementedError

    async def close(self):
        """Ends the client, if it runs, and closes its store."""
        raise NotImplementedError

    async def do_stop(self):
        await self.close()


class Undecrypted:
    """The events that could not be decrypted, and the codes with which their keys were withheld."""

    def __init__(self):
        self.events = {}
        self.withheld = {}

    def add(self, event_id, event, session_id):
        self.events[event_id] = (event, session_id)

    def withhold(self, content):
        self.withheld[content.get("session_id")] = content.get("code")

    def of_session(self, session_id):
        """The events that wait for a session."""
        return [(id, event) for id, (event, session) in self.events.items() if session == session_id]

    def remove(self, event_id):
        self.events.pop(event_id, None)

    def get(self, event_id):
        if event_id not in self.events:
            raise PuppetError(f"Cannot request a key: {event_id} is no event that could not be decrypted")
        return self.events[event_id]


def from_base64(text):
    return base64.b64decode(text)


def bytes_answer(data):
    """Bytes as an answer."""
    return {"bytes": base64.b64encode(data).decode(), "sha256": hashlib.sha256(data).hexdigest()}
