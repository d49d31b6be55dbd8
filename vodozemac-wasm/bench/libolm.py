"""The workloads on python-olm."""

import time

import olm

CHUNKS = 8


def bench(name, count, make):
    samples = []
    for _ in range(CHUNKS):
        run = make()
        start = time.perf_counter()
        for index in range(count):
            run(index)
        samples.append(f"{(time.perf_counter() - start) * 1e6 / count:.3f}")
    print(name, *samples)


def one_time_keys(account, count):
    account.generate_one_time_keys(count)
    keys = list(account.one_time_keys["curve25519"].values())
    account.mark_keys_as_published()
    return keys


def pair():
    alice, bob = olm.Account(), olm.Account()
    session = olm.OutboundSession(alice, bob.identity_keys["curve25519"], one_time_keys(bob, 1)[0])
    opening = session.encrypt("opening")
    other = olm.InboundSession(bob, opening, alice.identity_keys["curve25519"])
    other.decrypt(opening)
    session.decrypt(other.encrypt("reply"))
    return session, other


for size in (200, 4096):
    text = "x" * size

    def megolm_encrypt():
        session = olm.OutboundGroupSession()
        return lambda _: session.encrypt(text)

    def megolm_decrypt():
        outbound = olm.OutboundGroupSession()
        inbound = olm.InboundGroupSession(outbound.session_key)
        messages = [outbound.encrypt(text) for _ in range(200)]
        return lambda index: inbound.decrypt(messages[index])

    def olm_encrypt():
        session, _ = pair()
        return lambda _: session.encrypt(text)

    def olm_decrypt():
        session, other = pair()
        messages = [session.encrypt(text) for _ in range(200)]
        return lambda index: other.decrypt(messages[index])

    bench(f"megolm_encrypt_{size}", 200, megolm_encrypt)
    bench(f"megolm_decrypt_{size}", 200, megolm_decrypt)
    bench(f"olm_encrypt_{size}", 200, olm_encrypt)
    bench(f"olm_decrypt_{size}", 200, olm_decrypt)

text = "x" * 200


def pingpong():
    alice, bob = pair()

    def run(_):
        bob.decrypt(alice.encrypt(text))
        alice.decrypt(bob.encrypt(text))

    return run


def inbound_group():
    key = olm.OutboundGroupSession().session_key
    return lambda _: olm.InboundGroupSession(key)


def outbound_new():
    alice, bob = olm.Account(), olm.Account()
    key, identity = one_time_keys(bob, 1)[0], bob.identity_keys["curve25519"]
    return lambda _: olm.OutboundSession(alice, identity, key)


def inbound_new():
    alice, bob = olm.Account(), olm.Account()
    identity = alice.identity_keys["curve25519"]
    messages = [
        olm.OutboundSession(alice, bob.identity_keys["curve25519"], key).encrypt(text) for key in one_time_keys(bob, 50)
    ]

    def run(index):
        session = olm.InboundSession(bob, messages[index], identity)
        session.decrypt(messages[index])
        bob.remove_one_time_keys(session)

    return run


def one_time_key():
    account = olm.Account()
    return lambda _: account.generate_one_time_keys(5)


def sign():
    account = olm.Account()
    return lambda _: account.sign(text)


def verify():
    account = olm.Account()
    key, signature = account.identity_keys["ed25519"], account.sign(text)
    return lambda _: olm.ed25519_verify(key, text, signature)


bench("olm_pingpong_200", 50, pingpong)
bench("group_session_new", 100, lambda: lambda _: olm.OutboundGroupSession())
bench("inbound_group_from_key", 100, inbound_group)
bench("olm_outbound_new", 50, outbound_new)
bench("olm_inbound_new_200", 50, inbound_new)
bench("account_new", 100, lambda: lambda _: olm.Account())
bench("one_time_key_new", 20, one_time_key)
bench("ed25519_sign_200", 200, sign)
bench("ed25519_verify_200", 200, verify)
inbound = olm.InboundGroupSession(olm.OutboundGroupSession().session_key)
session, _ = pair()
bench("inbound_group_state", 200, lambda: lambda _: inbound.pickle("key"))
pickle = inbound.pickle("key")
bench("inbound_group_restore", 200, lambda: lambda _: olm.InboundGroupSession.from_pickle(pickle, "key"))
bench("olm_session_state", 200, lambda: lambda _: session.pickle("key"))
session_pickle = session.pickle("key")
bench("olm_session_restore", 200, lambda: lambda _: olm.Session.from_pickle(session_pickle, "key"))
