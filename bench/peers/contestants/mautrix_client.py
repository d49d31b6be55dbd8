"""mautrix-python: a client with its stores in memory, and a handler of all events of timelines."""

import asyncio
import logging

from drive import ANSWERS, TEXT, URL, drive
from mautrix.client import Client
from mautrix.client.state_store import MemoryStateStore, MemorySyncStore
from mautrix.client.syncer import SyncStream
from mautrix.types import EventType, MessageType, TextMessageEventContent

USER = "@me:example.org"
DEVICE = "BENCH"


def count_events(client, counter):
    """Has a client count what can be read, and gives what sends a message."""

    async def handle(event):
        if event.type == EventType.ROOM_ENCRYPTED:
            return
        if ANSWERS:
            await send(event.room_id, TEXT)
        else:
            counter.add()

    def send(room_id, text):
        return client.send_message(room_id, TextMessageEventContent(msgtype=MessageType.TEXT, body=text))

    client.add_event_handler(EventType.ALL, handle, sync_stream=SyncStream.TIMELINE)
    client.start(None)
    return send


async def begin(token, counter):
    client = Client(
        mxid=USER,
        device_id=DEVICE,
        base_url=URL,
        token=token,
        sync_store=MemorySyncStore(),
        state_store=MemoryStateStore(),
    )
    return count_events(client, counter)


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    asyncio.run(drive(begin))
