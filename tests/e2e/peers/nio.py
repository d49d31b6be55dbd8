"""matrix-nio as a puppet: see puppet.py for how it is told what to do."""

import asyncio
import io
import logging
import sqlite3
import sys
from datetime import timedelta

sys.path.append(sys.path.pop(0))  # this file has the name of the package that it drives: its folder must not come first

from nio import (  # noqa: E402
    AsyncClient,
    AsyncClientConfig,
    BadEvent,
    DummyEvent,
    EncryptionError,
    ForwardedRoomKeyEvent,
    MegolmEvent,
    OlmEvent,
    RoomKeyEvent,
    SyncResponse,
    UnknownBadEvent,
)
from nio.crypto import Olm, decrypt_attachment  # noqa: E402
from nio.responses import ErrorResponse  # noqa: E402
from nio.store import SqliteStore  # noqa: E402

from nio_sas import SasVerbs  # noqa: E402
from puppet import Puppet, PuppetError, Undecrypted, bytes_answer, from_base64  # noqa: E402

SYNC_TIMEOUT_MS = 1000  # what one round of the loop queues is sent in the next
RESTART_SECONDS = 0.2
DATABASE = "nio.db"
OLM_DECRYPTED = {
    RoomKeyEvent: "m.room_key",
    ForwardedRoomKeyEvent: "m.forwarded_room_key",
    DummyEvent: "m.dummy",
}


class Client(AsyncClient):
    """A client that tells its puppet of every sync response when it is done with it."""

    puppet = None

    async def receive_response(self, response):
        await super().receive_response(response)
        if isinstance(response, SyncResponse):
            self.puppet.after_sync(response)


def must(response):
    """The response, if it is no error."""
    if isinstance(response, ErrorResponse):
        raise PuppetError(str(response))
    return response


class NioPuppet(SasVerbs, Puppet):
    def __init__(self):
        super().__init__()
        self.client = None
        self.undecrypted = Undecrypted()
        self._syncing = None

    # Life

    @property
    def running(self):
        return self.client is not None

    async def do_start(self):
        config = AsyncClientConfig(
            store=SqliteStore, store_name=DATABASE, store_sync_tokens=True, encryption_enabled=True, pickle_key="puppet"
        )
        session = self.session
        client = Client(session["homeserver"], session["user_id"], session["device_id"], self.store, config)
        client.puppet = self
        client.restore_login(session["user_id"], session["device_id"], session["access_token"])
        if client.should_upload_keys:
            must(await client.keys_upload())
        self.client = client
        must(await client.sync(timeout=0, full_state=True))
        self._syncing = asyncio.create_task(self._sync_forever())

    async def _sync_forever(self):
        while True:
            try:
                await self.client.sync_forever(timeout=SYNC_TIMEOUT_MS)
            except asyncio.CancelledError:
                raise
            except Exception as error:  # what it can't parse ends its loop; a bot would begin anew
                logging.exception("the sync loop ended")
                self.event("crash", error=f"{type(error).__name__}: {error}")
                await asyncio.sleep(RESTART_SECONDS)

    async def close(self):
        if self.client is None:
            return
        client, self.client = self.client, None
        if self._syncing is not None:
            self._syncing.cancel()
            await asyncio.gather(self._syncing, return_exceptions=True)
            self._syncing = None
        await client.close()
        client.store.database.close()

    # What it sees

    def after_sync(self, response):
        for event in response.to_device_events:
            self._see_to_device(event)
        for room_id, info in response.rooms.invite.items():
            for event in info.invite_state:
                content = getattr(event, "content", None) or {}
                if getattr(event, "state_key", None) == self.client.user_id and content.get("membership") == "invite":
                    self.event("invite", roomId=room_id, sender=event.sender)
        for room_id, info in [*response.rooms.join.items(), *response.rooms.leave.items()]:
            for event in [*info.state, *info.timeline.events]:
                self._see(room_id, event)
        if any(isinstance(event, (RoomKeyEvent, ForwardedRoomKeyEvent)) for event in response.to_device_events):
            self._retry()

    def _see_to_device(self, event):
        source = event.source if isinstance(event.source, dict) else {}
        content = source.get("content", {})
        type = OLM_DECRYPTED.get(event.__class__, source.get("type"))
        if type in ("m.room_key.withheld", "org.matrix.room_key.withheld"):
            self.undecrypted.withhold(content)
        if isinstance(event, OlmEvent):
            self.event("to_device_undecryptable", sender=event.sender, senderKey=event.sender_key)
        else:
            encrypted = event.__class__ in OLM_DECRYPTED
            self.event("to_device", type=type, sender=event.sender, content=content, encrypted=encrypted)
            self.see_verification(event)

    def _see(self, room_id, event, late=False):
        source = event.source
        if isinstance(event, MegolmEvent):
            if event.transaction_id is None:
                self.undecrypted.add(event.event_id, event, event.session_id)
                self.event(
                    "undecryptable", roomId=room_id, eventId=event.event_id, sender=event.sender,
                    sessionId=event.session_id, reason=self._reason(event, room_id),
                    withheld=self.undecrypted.withheld.get(event.session_id),
                )  # fmt: skip
            return
        content, type = source.get("content", {}), source.get("type")
        if type == "m.room.encrypted" and isinstance(event, (BadEvent, UnknownBadEvent)):
            self.event(
                "undecryptable", roomId=room_id, eventId=source.get("event_id"), sender=source.get("sender"),
                sessionId=content.get("session_id"), reason="the library finds it malformed", withheld=None,
            )  # fmt: skip
        elif source.get("state_key") is not None:
            self._see_state(room_id, source)
        elif "transaction_id" not in source.get("unsigned", {}):
            encrypted = getattr(event, "decrypted", False)
            self.event(
                "message", roomId=room_id, eventId=source.get("event_id"), sender=source.get("sender"), type=type,
                content=content, msgtype=content.get("msgtype"), body=content.get("body"), encrypted=encrypted,
                trust=("verified" if event.verified else "unverified") if encrypted else None, late=late,
                sessionId=getattr(event, "session_id", None),
            )  # fmt: skip

    def _see_state(self, room_id, source):
        content, key = source["content"], source["state_key"]
        if source["type"] == "m.room.member":
            membership = content.get("membership")
            self.event("member", roomId=room_id, userId=key, membership=membership, sender=source["sender"])
        else:
            self.event("state", roomId=room_id, type=source["type"], stateKey=key, content=content)

    def _reason(self, event, room_id):
        """Why an event was not decrypted: the library only logs it."""
        olm = self.client.olm
        if olm.inbound_group_store.get(room_id, event.sender_key, event.session_id) is None:
            return "no session"
        try:
            olm.decrypt_megolm_event(event, room_id)
        except EncryptionError as error:
            return str(error)
        return "unknown"

    def _retry(self):
        """The library leaves it to its users to try again."""
        for event_id, (event, session_id) in list(self.undecrypted.events.items()):
            if self.client.olm.inbound_group_store.get(event.room_id, event.sender_key, session_id) is None:
                continue
            try:
                decrypted = self.client.decrypt_event(event)
            except EncryptionError:
                continue
            self.undecrypted.remove(event_id)
            self._see(event.room_id, decrypted, late=True)

    async def do_await_room(self, room_id, encrypted):
        async def ready():
            room = self.client.rooms.get(room_id)
            return room is not None and (room.encrypted or not encrypted)

        await self.until(ready)

    # Messages

    async def do_send_raw(self, room_id, type, content):
        await self.do_await_room(room_id, encrypted=True)
        if self.client.should_query_keys:  # the library leaves it to its loop, which may not have come to it
            must(await self.client.keys_query())
        while True:
            try:
                sent = await self.client.room_send(room_id, type, content, ignore_unverified_devices=True)
                return must(sent).event_id
            except KeyError:  # who left while the library shared a session has ended it: nothing was sent
                if room_id not in self.client.rooms:
                    raise

    async def do_history(self, room_id):
        """All encrypted events of a room, oldest first, with what can be read of them."""
        events, start = [], None
        while True:
            page = must(await self.client.room_messages(room_id, start=start, limit=100))
            for event in page.chunk:
                if isinstance(event, MegolmEvent) or getattr(event, "decrypted", False):
                    body = None if isinstance(event, MegolmEvent) else event.source["content"].get("body")
                    events.append({"eventId": event.event_id, "sender": event.sender, "body": body})
            if page.end is None or not page.chunk:
                return events[::-1]
            start = page.end

    async def do_upload(self, bytes, mimetype):
        data = from_base64(bytes)
        answer, keys = await self.client.upload(io.BytesIO(data), mimetype, encrypt=True, filesize=len(data))
        return {**keys, "url": must(answer).content_uri}

    async def do_download(self, file):
        data = must(await self.client.download(mxc=file["url"])).body
        return bytes_answer(decrypt_attachment(data, file["key"]["k"], file["hashes"]["sha256"], file["iv"]))

    # Keys

    async def do_device_keys(self):
        return dict(self.client.olm.account.identity_keys)

    async def do_devices(self, user_id):
        return [
            {"deviceId": device.id, "ed25519": device.ed25519, "curve25519": device.curve25519,
             "trust": device.trust_state.name}
            for device in self.client.device_store.active_user_devices(user_id)
        ]  # fmt: skip

    async def do_await_device(self, user_id, device_id):
        self.client.olm.users_for_key_query.add(user_id)
        must(await self.client.keys_query())

        async def known():
            device = self.client.device_store[user_id].get(device_id)
            return device is not None and not device.deleted

        await self.until(known)

    async def do_set_device_trust(self, user_id, device_id, trust):
        await self.do_await_device(user_id, device_id)
        device = self.client.device_store[user_id][device_id]
        current = device.trust_state.name
        if current != "unset" and trust == "unset":
            verb = {"verified": "unverify", "blacklisted": "unblacklist", "ignored": "unignore"}[current]
        elif trust != "unset":
            verb = {"verified": "verify", "blacklisted": "blacklist"}[trust]
        else:
            return
        getattr(self.client, f"{verb}_device")(device)

    async def do_rotate(self, room_id):
        self.client.invalidate_outbound_session(room_id)

    async def do_forget_olm_sessions(self):
        self._must_be_stopped()
        with sqlite3.connect(f"{self.store}/{DATABASE}") as database:
            database.execute("DELETE FROM olmsessions")
        database.close()

    async def do_set_unwedge_interval(self, ms):
        Olm._unwedging_interval = timedelta(milliseconds=ms)

    async def do_request_key(self, event_id):
        event, _ = self.undecrypted.get(event_id)
        must(await self.client.request_room_key(event))

    async def do_export_keys(self, file, passphrase):
        await self.client.export_keys(file, passphrase)

    async def do_import_keys(self, file, passphrase):
        await self.client.import_keys(file, passphrase)
        self._retry()


if __name__ == "__main__":
    asyncio.run(NioPuppet().run())
