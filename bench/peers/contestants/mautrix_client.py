"""mautrix-python: a client with its stores in memory or in SQLite, and a handler of all events of timelines."""

import asyncio
import logging

from drive import ENCRYPTED, FOLDER, URL, drive, option
from mautrix.client import Client
from mautrix.client.state_store import MemoryStateStore, MemorySyncStore
from mautrix.client.syncer import SyncStream
from mautrix.crypto import MemoryCryptoStore, OlmMachine, PgCryptoStateStore, PgCryptoStore
from mautrix.types import EventType, MessageType, TextMessageEventContent, ToDeviceEvent
from mautrix.util.async_db import Database
from mautrix.util.logging import TraceLogger

USER = "@me:example.org"
DEVICE = "BENCH"


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
        return [room_id for room_id, members in self.members.items() if user_id in members and self.encryption.get(room_id)]


async def open_stores():
    """The stores for tokens and keys, and for rooms."""
    if option("store") != "sqlite":
        return MemoryCryptoStore("bench", "bench"), RoomStore()
    database = Database.create(f"sqlite:///{FOLDER}/mautrix.db", upgrade_table=PgCryptoStore.upgrade_table)
    await database.start()
    await PgCryptoStateStore.upgrade_table.upgrade(database)
    return PgCryptoStore("bench", "bench", database), PgCryptoStateStore(database)


async def begin(token, counter):
    store, rooms = (await open_stores()) if ENCRYPTED else (MemorySyncStore(), MemoryStateStore())
    make = OrderedClient if ENCRYPTED else Client
    client = make(mxid=USER, device_id=DEVICE, base_url=URL, token=token, sync_store=store, state_store=rooms)
    if ENCRYPTED:
        await store.put_device_id(DEVICE)
        client.crypto = OlmMachine(client, store, rooms)
        await client.crypto.load()
        await client.crypto.share_keys()

    async def handle(event):
        if event.type != EventType.ROOM_ENCRYPTED:
            counter.add()

    client.add_event_handler(EventType.ALL, handle, sync_stream=SyncStream.TIMELINE)
    client.start(None)
    return lambda room_id, text: client.send_message(
        room_id, TextMessageEventContent(msgtype=MessageType.TEXT, body=text)
    )


logging.setLoggerClass(TraceLogger)
logging.disable(logging.CRITICAL)
asyncio.run(drive(begin))
