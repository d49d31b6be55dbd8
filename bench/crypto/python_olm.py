"""libolm, through python-olm: orders and answers are those of job.ts, and the work is that of raw.ts."""

import json
import sys
import time

import olm

OPTIONS = dict(arg[2:].split("=", 1) for arg in sys.argv[1:])
CONTENT = {"msgtype": "m.text", "body": "x" * 200}
PLAINTEXT = json.dumps({"type": "m.room.message", "room_id": "!bench:example.org", "content": CONTENT})


def timed(count, work):
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {"wall": wall * 1e6 / count, "cpu": cpu * 1e6 / count}


def encrypt(count):
    session = olm.OutboundGroupSession()

    def work():
        for _ in range(count):
            session.encrypt(PLAINTEXT)

    return timed(count, work)


def decrypt(count):
    outbound = olm.OutboundGroupSession()
    inbound = olm.InboundGroupSession(outbound.session_key)
    messages = [outbound.encrypt(PLAINTEXT) for _ in range(count)]

    def work():
        for message in messages:
            inbound.decrypt(message)

    return timed(count, work)


def read_crowd():
    with open(OPTIONS["crowd"], encoding="utf-8") as file:
        crowd = json.load(file)
    devices = []
    for user, owned in crowd["deviceKeys"].items():
        for device_id, device in owned.items():
            (key,) = crowd["oneTimeKeys"][user][device_id].values()
            signing_id = f"ed25519:{device_id}"
            names = device["keys"]
            signature = key["signatures"][user][signing_id]
            devices.append((names[f"curve25519:{device_id}"], names[signing_id], key["key"], signature))
    return devices


def first_message(_):
    account = olm.Account()

    def work():
        outbound = olm.OutboundGroupSession()
        # The rest of an m.room_key around the session's key.
        room_key = outbound.session_key + "x" * 700
        for identity, signing, key, signature in CROWD:
            olm.ed25519_verify(signing, json.dumps({"key": key}, separators=(",", ":")), signature)
            olm.OutboundSession(account, identity, key).encrypt(room_key)
        outbound.encrypt(PLAINTEXT)

    return timed(1, work)


CROWD = read_crowd()
JOBS = {
    "encrypt": encrypt,
    "decrypt_one": decrypt,
    "decrypt_event": decrypt,
    "decrypt_sync": decrypt,
    "first_message": first_message,
}
print("{}", flush=True)
for line in sys.stdin:
    order = json.loads(line)
    job = JOBS.get(order["job"])
    print(json.dumps(job(order["count"]) if job else {}), flush=True)
