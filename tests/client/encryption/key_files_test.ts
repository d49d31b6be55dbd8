/** Key files from one client to another. */

import { assert, assertEquals, assertFalse, assertRejects } from "@std/assert";
import { type Client, type Crypto, encryptionOf, MemoryStore } from "@greenroom/matrix";
import { KeyFileError } from "@greenroom/matrix/errors";
import { beginIn, twoInARoom, withholding } from "../support/encrypted_room.ts";
import { type ClientStage, clientStage } from "../support/stage.ts";
import { EVERYBODY } from "../../support/everybody.ts";

const PASSPHRASE = "correct horse battery staple";
const EXPORT = { passphrase: PASSPHRASE, rounds: 100_000 };

function cryptoOf({ crypto }: Client): Crypto {
  assert(crypto);
  return crypto;
}

/** Carol is in the room, and gets no keys before they are released. */
async function carolWithoutKeys(stage: ClientStage, room: Awaited<ReturnType<typeof twoInARoom>>) {
  const { alice, roomId } = room;
  const { fetch, release } = withholding(stage);
  const store = new MemoryStore();
  const carol = stage.client("carol", { encryption: EVERYBODY, fetch, store });
  const told: string[] = [];
  carol.on("UNDECRYPTABLE", ({ code }) => void told.push(code));
  carol.on("m.room.message", (event) => {
    const { keySource, senderTrust, senderDevice } = encryptionOf(event) ?? {};
    told.push([event.content.body, keySource, senderTrust, senderDevice !== undefined].join(" "));
  });
  await beginIn(stage, carol, { roomId, member: alice });
  return { carol, told, release };
}

Deno.test("exportKeys() gives what importKeys() reads, and events that waited for the keys are delivered", async () => {
  await using stage = clientStage();
  const room = await twoInARoom(stage);
  const { alice, bob, roomId } = room;
  const { carol, told, release } = await carolWithoutKeys(stage, room);
  await alice.sendText(roomId, "First");
  await alice.sendText(roomId, "Second");
  await stage.until(() => told.length === 2);
  assertEquals(told.splice(0), ["MISSING_KEY", "MISSING_KEY"]);
  const file = cryptoOf(bob).exportKeys(EXPORT);
  const report = await cryptoOf(carol).importKeys(file, { passphrase: PASSPHRASE });
  assertEquals(report, { total: 1, added: 1, improved: 0, known: 0, refused: 0 });
  await stage.until(() => told.length === 2);
  assertEquals(told.splice(0), ["First export unsigned-device false", "Second export unsigned-device false"]);

  release(); // the key of Alice's device comes too
  await alice.sendText(roomId, "Third");
  await stage.until(() => told.length === 1);
  assertEquals(told, ["Third direct unsigned-device true"]);
  const again = await cryptoOf(carol).importKeys(await textOf(bob), { passphrase: PASSPHRASE });
  assertEquals(again, { total: 1, added: 0, improved: 0, known: 1, refused: 0 });
});

async function textOf(client: Client, rooms?: Parameters<Crypto["exportKeys"]>[0]["rooms"]): Promise<string> {
  return await new Response(cryptoOf(client).exportKeys({ ...EXPORT, rooms })).text();
}

Deno.test("importKeys() changes nothing with another passphrase, or if it is aborted first", async () => {
  await using stage = clientStage();
  const room = await twoInARoom(stage);
  const { alice, bob, roomId } = room;
  const { carol, told } = await carolWithoutKeys(stage, room);
  await alice.sendText(roomId, "First");
  await stage.until(() => told.length === 1);
  const file = await textOf(bob);
  const wrong = { passphrase: "wrong horse" };
  const error = await assertRejects(() => cryptoOf(carol).importKeys(file, wrong), KeyFileError);
  assertEquals(error.problem, "passphrase");
  assertFalse(Deno.inspect(error).includes(wrong.passphrase));
  const aborted = { passphrase: PASSPHRASE, signal: AbortSignal.abort("never") };
  assertEquals(await cryptoOf(carol).importKeys(file, aborted).catch((error) => error), "never");
  const none = await cryptoOf(carol).importKeys(await textOf(carol), { passphrase: PASSPHRASE });
  assertEquals(none, { total: 0, added: 0, improved: 0, known: 0, refused: 0 });
  await stage.settle();
  assertEquals(told, ["MISSING_KEY"]);
});
