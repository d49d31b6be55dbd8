"""mautrix-python as a puppet: see puppet.py for how it is told what to do."""

import asyncio
import logging
import sqlite3
import sys

sys.path.append(sys.path.pop(0))  # this file has the name of the package that it drives: its folder must not come first

from mautrix.client import Client as BaseClient  # noqa: E402
from mautrix.client.encryption_manager import DecryptionDispatcher  # noqa: E402
from mautrix.crypto import OlmMachine, PgCryptoStateStore, PgCryptoStore, unwedge  # noqa: E402
from mautrix.crypto.attachments import decrypt_attachment, encrypt_attachment  # noqa: E402
from mautrix.errors import DecryptionError  # noqa: E402
from mautrix.types import Event, EventType, Membership, TrustState  # noqa: E402
from mautrix.util.async_db import Database  # noqa: E402
from mautrix.util.logging import TraceLogger  # noqa: E402

from mautrix_storage import StorageVerbs  # noqa: E402
from puppet import Puppet, Undecrypted, bytes_answer, from_base64  # noqa: E402

DATABASE = "mautrix.db"
ACCOUNT = "puppet"
WITHHELD = ("m.room_key.withheld", "org.matrix.room_key.withheld")
TRUST = {
    "verified": TrustState.VERIFIED,
    "blacklisted": TrustState.BLACKLISTED,
    "unset": TrustState.UNVERIFIED,
}


class Client(BaseClient):
    """A client that tells its puppet of every sync response when it is done with it.

    The library starts the handlers of a response and goes on; here each response waits for them.
    """

    puppet = None
    has_synced = False

    async def sync(self, *args, timeout=30000, **kwargs):
        """The first time, it does not wait for news: with a token from its store, it would."""
        answer = await super().sync(*args, timeout=timeout if self.has_synced else 0, **kwargs)
        self.has_synced = True
        return answer

    def add_event_handler(self, event_type, handler, wait_sync=False, sync_stream=None):
        super().add_event_handler(event_type, handler, wait_sync=True, sync_stream=sync_stream)

    def handle_sync(self, data):
        handling = super().handle_sync(data)

        async def tell():
            await asyncio.gather(*handling)
            await self.puppet.after_sync(data)

        return [*handling, asyncio.create_task(tell())]


class Machine(OlmMachine):
    """A machine that takes to-device messages one after the other, and tells its puppet of them.

    The library takes all messages of a sync response at once, so that two that begin the same Olm session would both
    create it.
    """

    def __init__(self, puppet, *args, **kwargs):
        self.puppet = puppet
        self._one_by_one = asyncio.Lock()
        super().__init__(*args, **kwargs)

    async def handle_to_device_event(self, evt):
        async with self._one_by_one:
            try:
                await super().handle_to_device_event(evt)
            except DecryptionError as error:
                sender_key = getattr(evt.content, "sender_key", None)
                self.puppet.event(
                    "to_device_undecryptable", sender=evt.sender, senderKey=sender_key, reason=str(error)
                )

    async def _decrypt_olm_event(self, evt):
        decrypted = await super()._decrypt_olm_event(evt)
        content = decrypted.content.serialize()
        self.puppet.event(
            "to_device", type=str(decrypted.type), sender=decrypted.sender, content=content, encrypted=True
        )
        return decrypted

    def _mark_session_received(self, session_id):
        super()._mark_session_received(session_id)
        self.puppet.session_received(session_id)


class MautrixPuppet(StorageVerbs, Puppet):
    def __init__(self):
        super().__init__()
        self.client = None
        self.undecrypted = Undecrypted()
        self._database = None
        self._retries = set()

    # Life

    @property
    def running(self):
        return self.client is not None

    async def do_start(self):
        logging.setLoggerClass(TraceLogger)
        session = self.session
        url = f"sqlite:///{self.store}/{DATABASE}"
        self._database = Database.create(url, upgrade_table=PgCryptoStore.upgrade_table)
        await self._database.start()
        await PgCryptoStateStore.upgrade_table.upgrade(self._database)
        store = PgCryptoStore(ACCOUNT, "puppet", self._database)
        client = Client(
            mxid=session["user_id"], device_id=session["device_id"], token=session["access_token"],
            base_url=session["homeserver"], sync_store=store, state_store=PgCryptoStateStore(self._database),
        )  # fmt: skip
        client.puppet = self
        await store.get_device_id()
        machine = Machine(self, client, store, client.state_store)
        await machine.load()
        await store.put_device_id(session["device_id"])
        client.crypto = machine
        client.remove_dispatcher(DecryptionDispatcher)  # the puppet decrypts, when all keys of a response have come
        if not machine.account.shared:
            await machine.share_keys()
        self._first_sync = asyncio.Event()
        self.client = client
        client.start(None)
        await self._first_sync.wait()

    async def close(self):
        if self.client is None:
            return
        client, self.client = self.client, None
        syncing = client.syncing_task
        client.stop()
        await asyncio.gather(syncing, *self._retries, return_exceptions=True)
        await client.api.session.close()
        await self._database.stop()

    # What it sees

    async def after_sync(self, data):
        for event in data.get("to_device", {}).get("events", []):
            if event["type"] in WITHHELD:
                self.undecrypted.withhold(event["content"])
            if event["type"] != "m.room.encrypted":
                self.event(
                    "to_device", type=event["type"], sender=event["sender"], content=event["content"], encrypted=False
                )
        rooms = data.get("rooms", {})
        for room_id, room in rooms.get("invite", {}).items():
            for event in room.get("invite_state", {}).get("events", []):
                if event.get("state_key") == self.session["user_id"] and event["type"] == "m.room.member":
                    self.event("invite", roomId=room_id, sender=event["sender"])
        for room_id, room in [*rooms.get("join", {}).items(), *rooms.get("leave", {}).items()]:
            events = [event for part in ("state", "timeline") for event in room.get(part, {}).get("events", [])]
            await self._order_members(room_id, events)
            for event in events:
                await self._see(room_id, event)
        self._first_sync.set()

    async def _order_members(self, room_id, events):
        """The library takes all events at once: of an invitation and the join after it, either may have won."""
        members = {event["state_key"]: event["content"] for event in events if event["type"] == "m.room.member"}
        store = self.client.state_store
        for user_id, content in members.items():
            membership = Membership(content["membership"])
            if await store.get_membership(room_id, user_id) != membership:
                await store.set_membership(room_id, user_id, membership)

    async def _see(self, room_id, event):
        content = event["content"]
        if "state_key" in event:
            key = event["state_key"]
            if event["type"] == "m.room.member":
                membership = content.get("membership")
                self.event("member", roomId=room_id, userId=key, membership=membership, sender=event["sender"])
            else:
                self.event("state", roomId=room_id, type=event["type"], stateKey=key, content=content)
        elif "transaction_id" in event.get("unsigned", {}):
            pass  # what this device sent itself
        elif event["type"] == "m.room.encrypted" and content:
            await self._decrypt(Event.deserialize({**event, "room_id": room_id}))
        else:
            self._message(event | {"room_id": room_id}, encrypted=False)

    def _message(self, event, encrypted, trust=None, late=False, session_id=None):
        content = event["content"]
        self.event(
            "message", roomId=event["room_id"], eventId=event["event_id"], sender=event["sender"], type=event["type"],
            content=content, msgtype=content.get("msgtype"), body=content.get("body"), encrypted=encrypted,
            trust=trust, late=late, sessionId=session_id,
        )  # fmt: skip

    async def _decrypt(self, event, late=False):
        session_id = getattr(event.content, "session_id", None)
        try:
            decrypted = await self.client.crypto.decrypt_megolm_event(event)
        except Exception as error:  # the library has a class for some reasons, and lets others through
            self.undecrypted.add(event.event_id, event, session_id)
            if not late:
                self.event(
                    "undecryptable", roomId=event.room_id, eventId=event.event_id, sender=event.sender,
                    sessionId=session_id, reason=f"{type(error).__name__}: {error}",
                    withheld=self.undecrypted.withheld.get(session_id),
                )  # fmt: skip
            return
        self.undecrypted.remove(event.event_id)
        trust = decrypted["mautrix"]["trust_state"].name.lower()
        self._message(decrypted.serialize(), encrypted=True, trust=trust, late=late, session_id=session_id)

    def session_received(self, session_id):
        """The library leaves it to its users to try again."""
        for _, event in self.undecrypted.of_session(session_id):
            task = asyncio.create_task(self._decrypt(event, late=True))
            self._retries.add(task)
            task.add_done_callback(self._retries.discard)

    # Messages

    async def do_await_room(self, room_id, encrypted):
        async def ready():
            store = self.client.state_store
            joined = await store.is_joined(room_id, self.session["user_id"])
            return joined and (not encrypted or await store.is_encrypted(room_id))

        await self.until(ready)

    async def do_send_raw(self, room_id, type, content):
        await self.do_await_room(room_id, encrypted=True)
        event_type = EventType.find(type, t_class=EventType.Class.MESSAGE)
        return await self.client.send_message_event(room_id, event_type, content)

    async def do_upload(self, bytes, mimetype):
        ciphertext, file = encrypt_attachment(from_base64(bytes))
        file.url = await self.client.upload_media(ciphertext, mime_type="application/octet-stream")
        return file.serialize()

    async def do_download(self, file):
        data = await self.client.download_media(file["url"])
        return bytes_answer(decrypt_attachment(data, file["key"]["k"], file["hashes"]["sha256"], file["iv"]))

    # Keys

    async def do_device_keys(self):
        account = self.client.crypto.account
        return {"ed25519": account.signing_key, "curve25519": account.identity_key}

    async def do_devices(self, user_id):
        devices = await self.client.crypto.crypto_store.get_devices(user_id) or {}
        return [
            {"deviceId": device.device_id, "ed25519": device.signing_key, "curve25519": device.identity_key,
             "trust": (await self.client.crypto.resolve_trust(device, allow_fetch=False)).name.lower()}
            for device in devices.values()
        ]  # fmt: skip

    async def do_await_device(self, user_id, device_id):
        machine = self.client.crypto
        await machine.get_or_fetch_device(user_id, device_id)  # from then on it hears of changes

        async def known():
            return await machine.crypto_store.get_device(user_id, device_id) is not None

        await self.until(known)

    async def do_set_device_trust(self, user_id, device_id, trust):
        machine = self.client.crypto
        await self.do_await_device(user_id, device_id)
        devices = await machine.crypto_store.get_devices(user_id)
        devices[device_id].trust = TRUST[trust]
        await machine.crypto_store.put_devices(user_id, devices)
        await machine.on_devices_changed(user_id)  # the library has no verb for it, and so no rotation

    async def do_rotate(self, room_id):
        await self.client.crypto.crypto_store.remove_outbound_group_session(room_id)

    async def do_forget_olm_sessions(self):
        self._must_be_stopped()
        with sqlite3.connect(f"{self.store}/{DATABASE}") as database:
            database.execute("DELETE FROM crypto_olm_session")
        database.close()

    async def do_set_unwedge_interval(self, ms):
        unwedge.MIN_UNWEDGE_INTERVAL = ms / 1000

    async def do_request_key(self, event_id):
        event, session_id = self.undecrypted.get(event_id)
        devices = {event.sender: [event.content.device_id or "*"], self.session["user_id"]: ["*"]}
        await self.client.crypto.request_room_key(
            event.room_id, event.content.sender_key, session_id, devices, timeout=0
        )


if __name__ == "__main__":
    asyncio.run(MautrixPuppet().run())
