"""mautrix-python: two machines with stores of its own, in SQLite or in memory, driven as its client drives them.

Orders and answers are those of job.ts. What the server would say comes from here: as objects made of JSON, as its client
makes them of what it receives.
"""

import asyncio
import json
import logging
import os
import sys
import tempfile
import time

from mautrix.client.state_store import MemoryStateStore
from mautrix.crypto import MemoryCryptoStore, OlmMachine, PgCryptoStateStore, PgCryptoStore
from mautrix.types import (
    ClaimKeysResponse,
    DeviceOTKCount,
    EncryptionAlgorithm,
    EncryptionKeyAlgorithm,
    Event,
    EventType,
    QueryKeysResponse,
    RoomEncryptionStateEventContent,
    ToDeviceEvent,
)
from mautrix.util.async_db import Database
from mautrix.util.logging import TraceLogger

ROOM = "!bench:example.org"
DEVICE = "BENCH"
CONTENT = {"msgtype": "m.text", "body": "x" * 200}
ENCRYPTION = RoomEncryptionStateEventContent(
    algorithm=EncryptionAlgorithm.MEGOLM_V1, rotation_period_msgs=10_000, rotation_period_ms=604_800_000
)
OPTIONS = dict(arg[2:].split("=", 1) for arg in sys.argv[1:])


class RoomStore(MemoryStateStore):
    """Every room is encrypted, and shared with nobody who matters."""

    async def is_encrypted(self, room_id):
        return True

    async def get_encryption_info(self, room_id):
        return ENCRYPTION

    async def find_shared_rooms(self, user_id):
        return []


class Switchboard:
    def __init__(self, crowd=None):
        crowd = crowd or {"deviceKeys": {}, "oneTimeKeys": {}}
        self.device_keys = dict(crowd["deviceKeys"])
        self.one_time_keys = crowd["oneTimeKeys"]
        self.own_keys = {}
        self.queues = {}


class Server:
    """What of a client a machine calls."""

    def __init__(self, mxid, switchboard):
        self.mxid = mxid
        self.device_id = DEVICE
        self.switchboard = switchboard

    def add_event_handler(self, *args, **kwargs):
        pass

    async def upload_keys(self, one_time_keys=None, device_keys=None):
        if device_keys:
            self.switchboard.device_keys[self.mxid] = {DEVICE: plain(device_keys)}
        own = self.switchboard.own_keys.setdefault(self.mxid, {})
        own.update(plain(one_time_keys or {}))
        return {EncryptionKeyAlgorithm.SIGNED_CURVE25519: len(own)}

    async def query_keys(self, users, token=""):
        found = {user: self.switchboard.device_keys.get(user, {}) for user in users}
        return QueryKeysResponse.deserialize(json.loads(json.dumps({"device_keys": found, "failures": {}})))

    async def claim_keys(self, wanted):
        found = {user: {device: self._take(user, device) for device in devices} for user, devices in wanted.items()}
        return ClaimKeysResponse.deserialize(json.loads(json.dumps({"one_time_keys": found, "failures": {}})))

    async def send_to_device(self, event_type, messages):
        sent = plain({user: {device: plain(each) for device, each in to.items()} for user, to in messages.items()})
        for user, contents in sent.items():
            if user in self.switchboard.own_keys:
                message = {"type": str(event_type), "sender": self.mxid, "content": contents[DEVICE]}
                self.switchboard.queues.setdefault(user, []).append(message)

    def _take(self, user, device):
        own = self.switchboard.own_keys.get(user)
        return dict([own.popitem()]) if own else self.switchboard.one_time_keys[user][device]


def plain(value):
    return json.loads(json.dumps(value.serialize() if hasattr(value, "serialize") else value))


class Device:
    def __init__(self, mxid, switchboard):
        self.client = Server(mxid, switchboard)
        self.database = None

    async def start(self):
        if OPTIONS["store"] != "memory":
            path = f"{tempfile.mkdtemp()}/crypto.db"
            self.database = Database.create(
                f"sqlite:///{path}",
                upgrade_table=PgCryptoStore.upgrade_table,
                # The library's own choice is NORMAL, with which a power cut may take back the last messages.
                db_args={"init_commands": ["PRAGMA synchronous = FULL"]} if OPTIONS["store"] == "sqlite-full" else {},
            )
            await self.database.start()
            await PgCryptoStateStore.upgrade_table.upgrade(self.database)
            store = PgCryptoStore("bench", "bench", self.database)
        else:
            store = MemoryCryptoStore("bench", "bench")
        await store.put_device_id(DEVICE)
        self.machine = OlmMachine(self.client, store, RoomStore())
        await self.machine.load()
        await self.machine.share_keys()
        return self

    async def stop(self):
        if self.database is not None:
            await self.database.stop()

    async def look_up(self, users):
        await self.machine._fetch_keys(users, include_untracked=True)

    async def share(self, room, users):
        await self.machine.crypto_store.remove_outbound_group_session(room)
        await self.machine.share_group_session(room, users)

    async def encrypt(self, room):
        return (await self.machine.encrypt_megolm_event(room, EventType.ROOM_MESSAGE, CONTENT)).serialize()

    async def sync(self, events):
        switchboard, mxid = self.client.switchboard, self.client.mxid
        count = len(switchboard.own_keys[mxid])
        await self.machine.handle_otk_count(DeviceOTKCount(signed_curve25519=count, curve25519=0))
        for message in switchboard.queues.pop(mxid, []):
            await self.machine.handle_to_device_event(ToDeviceEvent.deserialize(message))
        for event in events:
            await self.decrypt(event)

    async def decrypt(self, event):
        return await self.machine.decrypt_megolm_event(Event.deserialize(event))


class Timed:
    def __enter__(self):
        self.start = (time.perf_counter(), time.process_time())
        return self

    def __exit__(self, *_):
        wall, cpu = time.perf_counter() - self.start[0], time.process_time() - self.start[1]
        self.answer = {"wall": wall * 1e6, "cpu": cpu * 1e6}


class Jobs:
    def __init__(self, alice, bob, crowd):
        self.alice, self.bob, self.crowd = alice, bob, crowd
        self.events = 0

    async def ready(self):
        await self.alice.share(ROOM, [self.alice.client.mxid, self.bob.client.mxid])
        await self.bob.sync([])

    async def received(self, count):
        await self.ready()
        events = []
        for _ in range(count):
            self.events += 1
            content = await self.alice.encrypt(ROOM)
            events.append({
                "type": "m.room.encrypted", "event_id": f"$event{self.events}", "room_id": ROOM,
                "sender": self.alice.client.mxid, "origin_server_ts": int(time.time() * 1000),
                "content": json.loads(json.dumps(content)), "unsigned": {},
            })  # fmt: skip
        return events

    async def encrypt(self, count):
        await self.ready()
        with Timed() as timed:
            for _ in range(count):
                await self.alice.encrypt(ROOM)
        return timed.answer

    async def decrypt_one(self, count):
        events = await self.received(count)
        with Timed() as timed:
            for event in events:
                await self.bob.sync([event])
        return timed.answer

    async def decrypt_event(self, count):
        events = await self.received(count)
        with Timed() as timed:
            for event in events:
                await self.bob.decrypt(event)
        return timed.answer

    async def decrypt_sync(self, count):
        events = await self.received(count)
        with Timed() as timed:
            await self.bob.sync(events)
        return timed.answer

    async def first_message(self, _):
        device = await Device("@dave:example.org", Switchboard(self.crowd)).start()
        users = list(self.crowd["deviceKeys"])
        await device.look_up(users)
        with Timed() as timed:
            await device.share("!crowd:example.org", users)
            await device.encrypt("!crowd:example.org")
        await device.stop()
        return timed.answer


async def main():
    logging.setLoggerClass(TraceLogger)
    logging.disable(logging.CRITICAL)
    with open(OPTIONS["crowd"]) as file:
        crowd = json.load(file)
    switchboard = Switchboard()
    alice = await Device("@alice:example.org", switchboard).start()
    bob = await Device("@bob:example.org", switchboard).start()
    for device in (alice, bob):
        await device.look_up([alice.client.mxid, bob.client.mxid])
    jobs = Jobs(alice, bob, crowd)
    print("{}", flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        job = getattr(jobs, order["job"], None)
        try:
            answer = await job(order["count"]) if job else {}
            print(json.dumps({key: value / order["count"] for key, value in answer.items()}), flush=True)
        except Exception as error:
            print(json.dumps({"error": f"{type(error).__name__}: {error}"}), flush=True)
    for device in (alice, bob):
        await device.stop()
    os._exit(0)  # its threads may wait for each other


if __name__ == "__main__":
    asyncio.run(main())
