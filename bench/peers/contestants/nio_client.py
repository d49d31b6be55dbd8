"""matrix-nio: a client without a store and without encryption, and a callback for all events."""

import asyncio
import logging

from drive import URL, drive
from nio import AsyncClient, AsyncClientConfig

CONFIG = AsyncClientConfig(encryption_enabled=False, store_sync_tokens=False)
running = set()


def begin(token, counter):
    client = AsyncClient(URL, "@me:example.org", device_id="BENCH", config=CONFIG)
    client.user_id = "@me:example.org"
    client.access_token = token

    async def handle(_room, _event):
        counter.add()

    client.add_event_callback(handle, None)
    running.add(asyncio.create_task(client.sync_forever(timeout=30_000)))


logging.disable(logging.CRITICAL)
asyncio.run(drive(begin))
