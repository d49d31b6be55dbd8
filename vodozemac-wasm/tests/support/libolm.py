"""libolm on a leash: reads one JSON array [object, method, arguments...] a line and answers one JSON value a line."""

import json
import sys

import olm

objects = {}



def message(kind, body):
    return olm.OlmPreKeyMessage(body) if kind == 0 else olm.OlmMessage(body)


def parts(encrypted):
    return {"type": encrypted.message_type, "body": encrypted.ciphertext}


METHODS = {
    "account": lambda name: objects.__setitem__(name, olm.Account()),
    "identity_keys": lambda name: objects[name].identity_keys,
    "sign": lambda name, text: objects[name].sign(text),
    "one_time_keys": lambda name, count: (
        objects[name].generate_one_time_keys(count),
        list(objects[name].one_time_keys["curve25519"].values()),
    )[1],
    "generate_fallback_key": lambda name: (
        objects[name].generate_fallback_key(),
        list(objects[name].fallback_key["curve25519"].values())[0],
    )[1],
    "outbound_session": lambda name, account, identity_key, key: objects.__setitem__(
        name, olm.OutboundSession(objects[account], identity_key, key)
    ),
    "inbound_session": lambda name, account, body, identity_key: (
        objects.__setitem__(name, olm.InboundSession(objects[account], olm.OlmPreKeyMessage(body), identity_key)),
        objects[account].remove_one_time_keys(objects[name]),
    )[0],
    "id": lambda name: objects[name].id,
    "encrypt": lambda name, text: parts(objects[name].encrypt(text)),
    "decrypt": lambda name, kind, body: objects[name].decrypt(message(kind, body)),
    "pickle": lambda name, key: objects[name].pickle(key).decode(),
    "outbound_group": lambda name: objects.__setitem__(name, olm.OutboundGroupSession()),
    "session_key": lambda name: objects[name].session_key,
    "group_encrypt": lambda name, text: objects[name].encrypt(text),
    "inbound_group": lambda name, key: objects.__setitem__(name, olm.InboundGroupSession(key)),
    "import_group": lambda name, key: objects.__setitem__(name, olm.InboundGroupSession.import_session(key)),
    "export_group": lambda name, index: objects[name].export_session(index),
    "first_known_index": lambda name: objects[name].first_known_index,
    "group_decrypt": lambda name, body: list(objects[name].decrypt(body)),
    "sas": lambda name: objects.__setitem__(name, olm.Sas()),
    "sas_key": lambda name: objects[name].pubkey,
    "sas_their_key": lambda name, key: objects[name].set_their_pubkey(key),
    "sas_bytes": lambda name, info, count: objects[name].generate_bytes(info, count).hex(),
    "sas_mac": lambda name, text, info: objects[name].calculate_mac_fixed_base64(text, info),
    "sas_old_mac": lambda name, text, info: objects[name].calculate_mac(text, info),
    "pk": lambda name: objects.__setitem__(name, olm.PkDecryption()),
    "pk_key": lambda name: objects[name].public_key,
    "pk_decrypt": lambda name, m: objects[name].decrypt(olm.PkMessage(m["ephemeral"], m["mac"], m["ciphertext"])),
    "pk_encrypt": lambda _, key, text: (
        lambda m: {"ephemeral": m.ephemeral_key, "mac": m.mac, "ciphertext": m.ciphertext}
    )(olm.PkEncryption(key).encrypt(text)),
    "verify": lambda _, key, text, signature: olm.ed25519_verify(key, text, signature),
}

for line in sys.stdin:
    name, method, *arguments = json.loads(line)
    try:
        answer = {"value": METHODS[method](name, *arguments)}
    except Exception as error:  # whatever libolm refuses is an answer
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), flush=True)
