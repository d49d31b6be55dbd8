"""Reads encrypted traffic with libolm, as the specification says, and shares no code with Greenroom.

A line of JSON on standard input asks for something, a line on standard output answers:

    {"do": "make", "user_id": …, "device_id": …, "one_time_keys": 20}
        makes a device: its signed keys, and its account as an opaque text
    {"do": "read", "account": …, "user_id": …, "device_id": …, "device_keys": […], "to_device": […], "events": […]}
        decrypts what was sent to the device, and with the keys in it the events of rooms
"""

import json
import sys

import olm

OLM = "m.olm.v1.curve25519-aes-sha2"
MEGOLM = "m.megolm.v1.aes-sha2"


def canonical(value):
    """The text that a signature is about."""
    unsigned = {key: value[key] for key in value if key not in ("signatures", "unsigned")}
    return json.dumps(unsigned, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def make(user_id, device_id, one_time_keys):
    account = olm.Account()
    account.generate_one_time_keys(one_time_keys)
    keys = account.identity_keys

    def signed(value):
        signature = account.sign(canonical(value))
        return {**value, "signatures": {user_id: {f"ed25519:{device_id}": signature}}}

    return {
        "account": account.pickle("reader").decode(),
        "device_keys": signed(
            {
                "user_id": user_id,
                "device_id": device_id,
                "algorithms": [OLM, MEGOLM],
                "keys": {f"{kind}:{device_id}": keys[kind] for kind in ("curve25519", "ed25519")},
            }
        ),
        "one_time_keys": {
            f"signed_curve25519:{key_id}": signed({"key": key})
            for key_id, key in account.one_time_keys["curve25519"].items()
        },
    }


class Problem(Exception):
    """What is not as the specification says."""


class Reader:
    """The device."""

    def __init__(self, account, user_id, device_id, device_keys):
        self.account = olm.Account.from_pickle(account.encode(), "reader")
        self.user_id = user_id
        self.own = self.account.identity_keys
        self.device_id = device_id
        self.devices = {}  # by curve25519 key: user ID and ed25519 key
        for device in device_keys:
            self.add_device(device)
        self.olm_sessions = {}  # by curve25519 key of the other
        self.megolm_sessions = {}  # by room and session ID: session, user ID of its sender
        self.indexes = {}  # by session and index: event ID

    def add_device(self, device):
        user_id, device_id = device["user_id"], device["device_id"]
        ed25519 = device["keys"][f"ed25519:{device_id}"]
        signature = device["signatures"][user_id][f"ed25519:{device_id}"]
        olm.ed25519_verify(ed25519, canonical(device), signature)
        self.devices[device["keys"][f"curve25519:{device_id}"]] = (user_id, ed25519)

    def receive(self, event):
        """Receives a message to the device."""
        if event["type"] != "m.room.encrypted":
            return
        content = event["content"]
        if content["algorithm"] != OLM:
            raise Problem(f"the algorithm {content['algorithm']}")
        message = content["ciphertext"].get(self.own["curve25519"])
        if message is None:
            raise Problem("it is for another device")
        payload = json.loads(self.decrypt_olm(content["sender_key"], message))
        if content["sender_key"] not in self.devices:  # it is gone by now
            self.add_device(payload["sender_device_keys"])
        user_id, ed25519 = self.devices.get(content["sender_key"], (None, None))
        if not payload["sender"] == event["sender"] == user_id:
            raise Problem(f"the sender {payload['sender']} with the device of {user_id}")
        if payload["keys"]["ed25519"] != ed25519:
            raise Problem("the sender's Ed25519 key is not that of the device")
        if payload["recipient"] != self.user_id:
            raise Problem(f"the recipient {payload['recipient']}")
        if payload["recipient_keys"]["ed25519"] != self.own["ed25519"]:
            raise Problem("the recipient's key")
        if payload["type"] == "m.room_key":
            self.receive_key(event["sender"], payload["content"])

    def decrypt_olm(self, sender_key, message):
        sessions = self.olm_sessions.setdefault(sender_key, [])
        if message["type"] == 1:
            parsed = olm.OlmMessage(message["body"])
            for session in sessions:
                try:
                    return session.decrypt(parsed)
                except olm.OlmSessionError:
                    continue
            raise Problem("no Olm session decrypts it")
        parsed = olm.OlmPreKeyMessage(message["body"])
        for session in sessions:
            if session.matches(parsed, sender_key):
                return session.decrypt(parsed)
        session = olm.InboundSession(self.account, parsed, sender_key)
        # The one-time key stays: a hostile server hands it out twice, and what was encrypted then is read, too.
        text = session.decrypt(parsed)
        sessions.append(session)
        return text

    def receive_key(self, sender, content):
        if content["algorithm"] != MEGOLM:
            raise Problem(f"a key of the algorithm {content['algorithm']}")
        session = olm.InboundGroupSession(content["session_key"])
        if session.id != content["session_id"]:
            raise Problem("the session has another ID")
        place = (content["room_id"], session.id)
        known, _ = self.megolm_sessions.get(place, (None, None))
        if known is None or known.first_known_index > session.first_known_index:
            self.megolm_sessions[place] = (session, sender)

    def read(self, event):
        """Decrypts an event of a room. None: its key has not come."""
        content = event["content"]
        if content["algorithm"] != MEGOLM:
            raise Problem(f"the algorithm {content['algorithm']}")
        session, sender = self.megolm_sessions.get((event["room_id"], content["session_id"]), (None, None))
        if session is None:
            return None
        if sender != event["sender"]:
            raise Problem(f"the session is of {sender}")
        text, index = session.decrypt(content["ciphertext"])
        payload = json.loads(text)
        if payload["room_id"] != event["room_id"]:
            raise Problem(f"the room {payload['room_id']}")
        first = self.indexes.setdefault((session.id, index), event["event_id"])
        if first != event["event_id"]:
            raise Problem(f"the index {index} that {first} has, too")
        return {"type": payload["type"], "content": payload["content"]}


def read(to_device, events, **device):
    reader = Reader(**device)
    problems = []
    for event in to_device:
        try:
            reader.receive(event)
        except (Problem, KeyError, olm.OlmSessionError, olm.OlmGroupSessionError, olm.OlmVerifyError) as error:
            problems.append(f"a message of {event['sender']} to the device: {error!r}")
    decrypted = {}
    unreadable = []
    for event in events:
        try:
            found = reader.read(event)
        except (Problem, KeyError, olm.OlmGroupSessionError) as error:
            problems.append(f"{event['event_id']} of {event['sender']}: {error!r}")
            continue
        if found is None:
            unreadable.append(event["event_id"])
        else:
            decrypted[event["event_id"]] = found
    return {"decrypted": decrypted, "unreadable": unreadable, "problems": problems}


DOES = {"make": make, "read": read}

for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps(DOES[request.pop("do")](**request)), flush=True)
