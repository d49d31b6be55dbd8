"""mautrix-python with encryption: a client with its stores in memory or (`--store=sqlite`) in SQLite."""

import asyncio
import logging

from drive import FOLDER, URL, drive, option
from mautrix.client import Client
from mautrix.client.state_store import MemoryStateStore
from mautrix.crypto import MemoryCryptoStore, OlmMachine, PgCryptoStateStore, PgCryptoStore
from mautrix.types import ToDeviceEvent
from mautrix.util.async_db import Database
from mautrix.util.logging import TraceLogger
from mautrix_client import DEVICE, USER, count_events


class OrderedClient(Client):
    """A client that takes the keys of a response before its events.

    The library takes them all at once: events would be tried before their keys have come, and lost.
    """

    def handle_sync(self, data):
        messages = data.pop("to_device", {}).get("events", [])

        async def handle():
            for message in messages:
                await self.crypto.handle_to_device_event(ToDeviceEvent.deserialize(message))
            await asyncio.gather(*Client.handle_sync(self, data))

        return [asyncio.create_task(handle())]


class RoomStore(MemoryStateStore):
    """What the machine asks besides."""

    async def find_shared_rooms(self, user_id):
        return [room for room, members in self.members.items() if user_id in members and self.encryption.get(room)]


async def open_stores():
    """The stores for tokens and keys, and for rooms."""
    if option("store") != "sqlite":
        return MemoryCryptoStore("bench", "bench"), RoomStore()
    database = Database.create(f"sqlite:///{FOLDER}/mautrix.db", upgrade_table=PgCryptoStore.upgrade_table)
    await database.start()
    await PgCryptoStateStore.upgrade_table.upgrade(database)
    return PgCryptoStore("bench", "bench", database), PgCryptoStateStore(database)


async def begin(token, counter):
    store, rooms = await open_stores()
    await store.put_device_id(DEVICE)
    client = OrderedClient(mxid=USER, device_id=DEVICE, base_url=URL, token=token, sync_store=store, state_store=rooms)
    client.crypto = OlmMachine(client, store, rooms)
    await client.crypto.load()
    await client.crypto.share_keys()
    return count_events(client, counter)


logging.setLoggerClass(TraceLogger)
logging.disable(logging.CRITICAL)
asyncio.run(drive(begin))
