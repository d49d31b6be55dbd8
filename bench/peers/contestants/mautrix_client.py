"""mautrix-python: a client with its stores in memory, and a handler of all events of timelines."""

import asyncio
import logging

from drive import URL, drive
from mautrix.client import Client
from mautrix.client.state_store import MemoryStateStore, MemorySyncStore
from mautrix.client.syncer import SyncStream
from mautrix.types import EventType


def begin(token, counter):
    client = Client(
        mxid="@me:example.org",
        device_id="BENCH",
        base_url=URL,
        token=token,
        sync_store=MemorySyncStore(),
        state_store=MemoryStateStore(),
    )

    async def handle(_event):
        counter.add()

    client.add_event_handler(EventType.ALL, handle, sync_stream=SyncStream.TIMELINE)
    client.start(None)


logging.disable(logging.CRITICAL)
asyncio.run(drive(begin))
