import { assert, assertEquals, assertRejects } from "@std/assert";
import { encryptionOf } from "@greenroom/matrix";
import { IdentityChangedError } from "@greenroom/matrix/errors";
import type { DeviceAlarm, MessageEvent } from "@greenroom/matrix/types";
import { roomWith } from "../support/faulty/talk.ts";
import { Ours } from "../support/ours.ts";
import { Peer } from "../support/peer/peer.ts";
import { newDevice } from "../support/peer/peer_device.ts";
import { peerTest } from "../support/peer/peer_test_case.ts";

/** Gives a peer's user new cross-signing keys; the master key, as the peer tells it. */
async function crossSign(peer: Peer): Promise<string> {
  await peer.call("bootstrapCrossSigning", { password: peer.user.password });
  return String(await peer.call("masterKey", {}));
}

/** Waits until we see an identity. */
async function awaitIdentity(ours: Ours, { user: { userId } }: Peer, master: string): Promise<void> {
  await ours.until(async () => (await ours.crypto.getIdentity(userId))?.master === master);
}

peerTest(
  "T75 Our user's other device gets our keys once we have accepted the identity that it tells, with js_sdk",
  ["js_sdk"],
  async (server) => {
    await using peer = await Peer.start("js_sdk", server, "peer");
    const master = await crossSign(peer);
    const user = await newDevice(server, peer.user);
    const encryption = { sendTo: "cross-signed", accept: "cross-signed" } as const;
    await using ours = await Ours.start(server, "peer", { user, encryption });
    const roomId = await roomWith(ours, []);
    await awaitIdentity(ours, peer, master);
    const secret = await ours.sendText(roomId, "before");
    assertEquals((await peer.undecryptable(({ eventId }) => eventId === secret)).eventId, secret);
    const named = await peer.sendText(roomId, "is it me?");
    const { reason } = await ours.undecryptable(({ eventId }) => eventId === named);
    assert(reason.startsWith("UNTRUSTED"), reason);

    const { promise: read, resolve } = Promise.withResolvers<MessageEvent>();
    ours.client.on("m.room.message", (event) => event.event_id === named && resolve(event));

    await ours.crypto.acknowledgeIdentity({ userId: peer.user.userId, master });

    assertEquals(encryptionOf(await read)?.senderTrust, "unverified-identity");
    const heard = await ours.sendText(roomId, "after");
    assertEquals((await peer.message(({ eventId }) => eventId === heard)).body, "after");
  },
);

peerTest(
  "S49 T76 We go on with a user who resets the identity, and are told, with js_sdk",
  ["js_sdk"],
  async (server) => {
    await using peer = await Peer.start("js_sdk", server, "peer");
    const first = await crossSign(peer);
    await using ours = await Ours.start(server, "ours", { encryption: { sendTo: "cross-signed" } });
    const alarms: DeviceAlarm[] = [];
    ours.client.on("DEVICE_ALARM", ({ alarm }) => void alarms.push(alarm));
    const roomId = await roomWith(ours, [peer]);
    await awaitIdentity(ours, peer, first);
    const heard = await ours.sendText(roomId, "one");
    await peer.message(({ eventId }) => eventId === heard);
    const { userId } = peer.user;

    const second = await crossSign(peer);
    await awaitIdentity(ours, peer, second);

    const alarm = {
      kind: "identity-changed",
      userId,
      previous: first,
      current: second,
      isAccepted: true,
    } as const;
    assertEquals(alarms, [alarm]);
    await assertRejects(
      () => ours.crypto.acknowledgeIdentity({ userId, master: first }),
      IdentityChangedError,
      "another one by now",
    );
    const again = await ours.sendText(roomId, "two");
    assertEquals((await peer.message(({ eventId }) => eventId === again)).body, "two");
  },
);
