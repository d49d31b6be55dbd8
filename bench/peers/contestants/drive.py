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
# How long memory has to settle before it is read.
SETTLING_S = 0.5


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


async def _play(ask, token, counter):
    jobs = await ask("jobs")
    await ask(f"{token}/idle")
    results = []
    total = 0
    for index, job in enumerate(jobs):
        start, before, already = time.perf_counter(), time.process_time(), counter.counted
        seen = await ask(f"{token}/{index}")
        total += job["events"]
        await counter.reach(total)
        results.append(
            {
                "job": job["name"],
                "wall": (time.perf_counter() - start) * 1000,
                "cpu": (time.process_time() - before) * 1000,
                "memory": memory("VmHWM"),
                "events": counter.counted - already,
                "syncs": seen["syncs"],
            }
        )
    return {"results": results}


async def drive(begin):
    """Does what the command line asks for, prints a line of JSON with what it took, and ends the process.

    `begin(token, counter)` starts a client that counts the events of timelines.
    """
    token, what, counter = option("token"), option("what", "play"), Counter()
    timeout = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(timeout=timeout) as http:

        async def ask(path):
            async with http.get(f"{URL}/bench/{path}") as response:
                return await response.json()

        answer = {}
        if what == "idle":
            names = [f"{token}-{index}" for index in range(int(option("clients", "1")))]
            for name in names:
                begin(name, counter)
                await ask(f"{name}/idle")
            await counter.reach(len(names))
            await asyncio.sleep(SETTLING_S)
            gc.collect()
            answer["memory"] = memory("VmRSS")
        else:
            begin(token, counter)
            if what == "start":
                await counter.reach(1)
            else:
                answer = await _play(ask, token, counter)
            answer.update(cpu=time.process_time() * 1000, memory=memory("VmHWM"))
    print(json.dumps({**answer, "runtime": f"Python {platform.python_version()}"}), flush=True)
    os._exit(0)
