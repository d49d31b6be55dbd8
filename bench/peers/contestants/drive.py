"""What contestants in Python have in common: they count events, and say what that took. See drive.mjs."""

import asyncio
import gc
import json
import os
import platform
import sys
import time

import aiohttp


def option(name, by_default=""):
    """An option of the command line, `--name=value`."""
    prefix = f"--{name}="
    return next((arg[len(prefix) :] for arg in sys.argv if arg.startswith(prefix)), by_default)


URL = option("url")
# Whether rooms are encrypted.
ENCRYPTED = option("encrypted") != ""
# Where the client may keep files.
FOLDER = option("folder")
# Whether a handler answers each message.
ANSWERS = option("what") == "answer"
# What is sent: 200 bytes.
TEXT = ("The room is green – 今日は! " * 9)[:152]
# How long memory has to settle before it is read.
SETTLING_S = 0.5
# How often it is looked whether anything else could run.
TICK_S = 0.002


class Counter:
    """Counts the events of timelines."""

    def __init__(self):
        self.counted = 0
        self._wanted = float("inf")
        self._arrived = asyncio.Event()

    def add(self):
        self.counted += 1
        if self.counted >= self._wanted:
            self._arrived.set()

    async def reach(self, total):
        self._wanted = total
        self._arrived.clear()
        if self.counted < total:
            await self._arrived.wait()


def memory(what):
    """A figure of the process in bytes: `VmHWM` or `VmRSS`; 0 where the system does not say."""
    try:
        with open("/proc/self/status", encoding="utf-8") as status:
            lines = [line for line in status if line.startswith(what)]
    except OSError:
        return 0
    return 1024 * int(lines[0].split()[1])


class _Stopwatch:
    """What it took, in milliseconds."""

    def __init__(self):
        self._start = (time.perf_counter(), time.process_time())

    def read(self):
        wall, cpu = self._start
        return {"wall": (time.perf_counter() - wall) * 1000, "cpu": (time.process_time() - cpu) * 1000}


async def _send_all(ask, token, send, messages):
    room_id = await ask(f"{token}/room")
    stopwatch = _Stopwatch()
    for _ in range(messages):
        await send(room_id, TEXT)
    took = stopwatch.read()
    sent = await ask(f"{token}/sent")
    return {**took, "events": messages, "syncs": sent.get("m.room.encrypted" if ENCRYPTED else "m.room.message", 0)}


async def _play(ask, token, counter, send):
    jobs = await ask(f"{token}/jobs")
    await ask(f"{token}/idle")
    results = []
    total = 0
    for index, job in enumerate(jobs):
        if job["name"] == "send":
            sent = await _send_all(ask, token, send, job["events"])
            results.append({"job": job["name"], **sent, "memory": memory("VmHWM")})
            continue
        stopwatch, already = _Stopwatch(), counter.counted
        seen = await ask(f"{token}/{index}")
        total += job["events"]
        await counter.reach(total)
        took = {**stopwatch.read(), "memory": memory("VmHWM")}
        results.append({"job": job["name"], **took, "events": counter.counted - already, "syncs": seen["syncs"]})
    return {"results": results}


class _Turns:
    """For how long nothing else could run: the delays of a timer, in milliseconds."""

    def __init__(self):
        self._delays = []
        self._task = asyncio.create_task(self._watch())

    async def _watch(self):
        while True:
            due = time.perf_counter() + TICK_S
            await asyncio.sleep(TICK_S)
            self._delays.append(max(0, time.perf_counter() - due) * 1000)

    def read(self):
        delays, self._delays = sorted(self._delays), []
        return delays[max(0, -(-len(delays) * 999 // 1000) - 1)] if delays else 0


async def _answer_all(ask, token):
    """Answers messages that come at rates, `--rates=1x10,100x10`: messages a second, and for how many seconds."""
    await ask(f"{token}/idle")
    paces, turns = [], _Turns()
    for rate, seconds in (pace.split("x") for pace in option("rates").split(",")):
        stopwatch = _Stopwatch()
        turns.read()
        pace = await ask(f"{token}/pace/{rate}/{seconds}")
        paces.append({**pace, **stopwatch.read(), "turn": turns.read()})
        if pace["answered"] < pace["messages"]:
            break
    return {"paces": paces}


async def _wait_idly():
    """What clients that wait take of the processor, in milliseconds."""
    stopwatch = _Stopwatch()
    await asyncio.sleep(float(option("seconds")))
    return {"paces": [stopwatch.read()]}


async def drive(begin):
    """Does what the command line asks for, prints a line of JSON with what it took, and ends the process.

    `begin(token, counter)` starts a client that counts the events of timelines, and gives what sends a message.
    """
    token, what, counter = option("token"), option("what", "play"), Counter()
    timeout = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(timeout=timeout) as http:

        async def ask(path):
            async with http.get(f"{URL}/bench/{path}") as response:
                return await response.json()

        answer = {}
        if what in ("idle", "wait"):
            names = [f"{token}-{index}" for index in range(int(option("clients", "1")))]
            for name in names:
                await begin(name, counter)
                await ask(f"{name}/idle")
            await counter.reach(len(names))
            await asyncio.sleep(SETTLING_S)
            gc.collect()
            if what == "wait":
                answer.update(await _wait_idly())
            answer["memory"] = memory("VmRSS")
        else:
            send = await begin(token, counter)
            if what == "start":
                await counter.reach(1)
                print(flush=True)  # stops the clock
            elif ANSWERS:
                answer = await _answer_all(ask, token)
            else:
                answer = await _play(ask, token, counter, send)
            answer.update(cpu=time.process_time() * 1000, memory=memory("VmHWM"))
    print(json.dumps({**answer, "runtime": f"Python {platform.python_version()}"}), flush=True)
    os._exit(0)
