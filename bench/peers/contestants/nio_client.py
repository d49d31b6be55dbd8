"""matrix-nio: a client and a callback for all events; without encryption it has no store, with it one in SQLite."""

import asyncio
import logging

from drive import ANSWERS, ENCRYPTED, FOLDER, TEXT, URL, drive
from nio import AsyncClient, AsyncClientConfig, MegolmEvent

USER = "@me:example.org"
CONFIG = AsyncClientConfig(encryption_enabled=ENCRYPTED, store_sync_tokens=ENCRYPTED)
running = set()


async def begin(token, counter):
    client = AsyncClient(URL, USER, device_id="BENCH", store_path=FOLDER if ENCRYPTED else "", config=CONFIG)
    client.restore_login(USER, "BENCH", token)
    if ENCRYPTED:
        await client.keys_upload()

    async def handle(room, event):
        if isinstance(event, MegolmEvent):
            return
        if ANSWERS:
            await send(room.room_id, TEXT)
        else:
            counter.add()

    client.add_event_callback(handle, None)
    running.add(asyncio.create_task(client.sync_forever(timeout=30_000)))

    async def send(room_id, text):
        content = {"msgtype": "m.text", "body": text}
        await client.room_send(room_id, "m.room.message", content, ignore_unverified_devices=True)

    return send


logging.disable(logging.CRITICAL)
asyncio.run(drive(begin))
