import { assert, assertEquals, assertRejects } from "@std/assert";
import { Client } from "@greenroom/matrix";
import { KeyBackupError } from "@greenroom/matrix/errors";
import { type MessageEvent, PaginationDirection, type RoomID } from "@greenroom/matrix/types";
import { roomWith } from "../support/faulty/talk.ts";
import { Ours } from "../support/ours.ts";
import { Peer } from "../support/peer/peer.ts";
import { newDevice } from "../support/peer/peer_device.ts";
import { peerTest } from "../support/peer/peer_test_case.ts";
import type { SynapseServer } from "../support/synapse.ts";
import { EVERYBODY } from "../../support/everybody.ts";
import { newRecoveryKey } from "../../crypto/secrets/recovery_keys.ts";

/** Our client on another device of a peer's user, without any keys. */
async function freshClient(server: SynapseServer, peer: Peer): Promise<Client> {
  const { accessToken: token, userId: mxid } = await newDevice(server, peer.user);
  return new Client({ baseUrl: server.baseUrl, accessToken: token, mxid, encryption: EVERYBODY });
}

/** What our client reads of an event of the room's history. */
async function read(
  { client, roomId }: { client: Client; roomId: RoomID },
  eventId: string,
): Promise<unknown> {
  const { chunk } = await client.getMessages(roomId, PaginationDirection.BACKWARD, undefined);
  const event = chunk.find(({ event_id }) => event_id === eventId) as MessageEvent;
  const decryption = await client.crypto?.decrypt(event);
  assert(decryption !== undefined);
  return "event" in decryption ? decryption.event.content.body : decryption.code;
}

peerTest(
  "S37 S38 S40 We read history by the backup that js_sdk has made, and js_sdk by the one that we make in its place",
  ["js_sdk"],
  async (server) => {
    await using peer = await Peer.start("js_sdk", server, "peer");
    await using ours = await Ours.start(server, "ours");
    await peer.call("bootstrapCrossSigning", { password: peer.user.password });
    const recoveryKey = String(await peer.call("bootstrapSecretStorage", { passphrase: "correct horse" }));
    const roomId = await roomWith(ours, [peer]);
    const eventId = await peer.sendText(roomId, "before we were there");
    await peer.call("awaitBackup", { count: 1 });

    await using client = await freshClient(server, peer);
    const { backup } = client.crypto ?? {};
    assert(backup);
    assertEquals((await backup.info()).problem, "untrusted");
    assertEquals(await read({ client, roomId }, eventId), "MISSING_KEY");
    const wrong = { recoveryKey }; // that of the secret storage is not that of the backup
    const { problem } = await assertRejects(() => backup.trust(wrong), KeyBackupError);
    assertEquals(problem, "wrong-key");
    using storage = await client.secretStorage.open({ recoveryKey });
    const { version } = await backup.trust({ storage });
    assertEquals(await read({ client, roomId }, eventId), "before we were there");
    const { added, known, refused } = await backup.restore();
    assertEquals([added + known >= 1, refused], [true, 0]);

    const next = await backup.reset({ storage });
    assert(next.version !== version && next.problem === undefined);
    await client.crypto?.idle();
    const { count, isComplete } = await backup.info();
    assert(isComplete && count >= 1);
    await using young = await Peer.start("js_sdk", server, "young", {
      user: await newDevice(server, peer.user),
    });
    assertEquals(await young.call("recover", { recoveryKey }), { total: count, imported: count });
  },
);

peerTest(
  "S37 S48 A bot that was given nothing but a recovery key reads history by the backup that js_sdk has made, and js_sdk by the one that a bot has made",
  ["js_sdk"],
  async (server) => {
    await using peer = await Peer.start("js_sdk", server, "peer");
    await using ours = await Ours.start(server, "ours", { encryption: { recoveryKey: newRecoveryKey() } });
    await peer.call("bootstrapCrossSigning", { password: peer.user.password });
    const recoveryKey = String(await peer.call("bootstrapSecretStorage", { passphrase: "correct horse" }));
    const roomId = await roomWith(ours, [peer]);
    const eventId = await peer.sendText(roomId, "before we were there");
    await peer.call("awaitBackup", { count: 1 });

    const { accessToken: token, userId: mxid } = await newDevice(server, peer.user);
    await using client = new Client({
      baseUrl: server.baseUrl,
      accessToken: token,
      mxid,
      encryption: { recoveryKey },
    });
    await client.crypto?.start();
    assertEquals((await client.crypto?.ensureVerified())?.backup, "on");
    assertEquals(await read({ client, roomId }, eventId), "before we were there");

    const key = newRecoveryKey();
    await using bot = await Ours.start(server, "bot", { encryption: { recoveryKey: key } });
    const own = await roomWith(bot, [peer]);
    await bot.sendText(own, "by the bot");
    await bot.crypto.idle();
    const { count, version } = await bot.crypto.backup.info();
    assertEquals([version, count >= 1], ["1", true]);
    await using young = await Peer.start("js_sdk", server, "young", {
      user: await newDevice(server, bot.user),
    });
    assertEquals(await young.call("recover", { recoveryKey: key }), { total: count, imported: count });
  },
);
