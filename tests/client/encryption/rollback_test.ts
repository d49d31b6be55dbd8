import { assert, assertEquals } from "@std/assert";
import { encryptionOf, MemoryStore } from "@greenroom/matrix";
import type { MessageEvent } from "@greenroom/matrix/types";
import { begin, beginIn, ENCRYPTED, twoInARoom } from "../support/encrypted_room.ts";
import { clientStage, heard } from "../support/stage.ts";
import { copyOf } from "../support/store_copy.ts";
import { EVERYBODY } from "../../support/everybody.ts";

/** How long a device is left alone whose process has not let go of it, in milliseconds. */
const LEASE = 15_000;

Deno.test("A store that was set back is noticed by the own events: a new session begins, and nothing is lost", async () => {
  await using stage = clientStage();
  const { alice, bob, roomId } = await twoInARoom(stage);
  const texts = heard(bob);
  const places: string[] = [];
  bob.on("m.room.message", (event) => {
    const encryption = encryptionOf(event as MessageEvent);
    places.push(`${encryption?.sessionId} ${encryption?.messageIndex}`);
  });
  const store = new MemoryStore();
  const carol = stage.client("carol", { encryption: EVERYBODY, store });
  await beginIn(stage, carol, { roomId, member: alice });
  await carol.sendText(roomId, "One");
  await stage.settle();
  const old = await copyOf(store);
  await carol.sendText(roomId, "Two");
  await stage.settle();
  await carol.close();
  await stage.clock.tick(LEASE);

  const again = stage.client("carol", { encryption: EVERYBODY, store: old });
  const heardAgain = heard(again);
  await begin(stage, again);
  await stage.until(() => heardAgain.includes("Two"));
  await again.sendText(roomId, "Three");
  await stage.until(() => texts.length === 3);
  assertEquals(texts, ["One", "Two", "Three"]);
  assertEquals(new Set(places).size, 3);
  await bob.sendText(roomId, "And back");
  await stage.until(() => heardAgain.includes("And back"));
});

Deno.test("A store that was set back to before a session began is noticed by the events of that session", async () => {
  await using stage = clientStage();
  const { alice, bob, roomId } = await twoInARoom(stage);
  const texts = heard(bob);
  const unread: string[] = [];
  bob.on("UNDECRYPTABLE", ({ code }) => void unread.push(code));
  const store = new MemoryStore();
  const carol = stage.client("carol", { encryption: EVERYBODY, store });
  await beginIn(stage, carol, { roomId, member: alice });
  await carol.sendText(roomId, "One");
  await stage.until(() => texts.length === 1);
  const old = await copyOf(store);
  await carol.crypto?.discardGroupSession(roomId);
  await carol.sendText(roomId, "Two");
  await stage.until(() => texts.length === 2);
  await carol.close();
  await stage.clock.tick(LEASE);

  const again = stage.client("carol", { encryption: EVERYBODY, store: old });
  let isTold = false;
  again.on("UNDECRYPTABLE", () => void (isTold = true));
  await begin(stage, again);
  await stage.until(() => isTold);
  await again.sendText(roomId, "Three");
  await stage.until(() => texts.length === 3);
  assertEquals([texts, unread], [["One", "Two", "Three"], []]);
});

Deno.test("A server that makes events of this device up has it begin new sessions once an hour, and no more", async () => {
  await using stage = clientStage();
  const { alice, roomId } = await twoInARoom(stage);
  const { deviceKeys } = await alice.crypto?.getOwnDeviceKeys() ?? {};
  const sessions = new Set<string>();
  for (let round = 0; round < 5; round++) {
    const content = {
      algorithm: "m.megolm.v1.aes-sha2",
      ciphertext: "AwgAEnACgAkLmt6qF84IK",
      session_id: `made-up-${round}`,
      device_id: alice.deviceId,
      sender_key: deviceKeys?.keys[`curve25519:${alice.deviceId}`],
    };
    await alice.sendMessageEvent(roomId, "m.room.encrypted", content as never);
    await stage.settle();
    sessions.add((await alice.shareGroupSession(roomId)).sessionId);
  }
  assertEquals(sessions.size, 1);
});

Deno.test("A store that was set back is noticed by one-time keys that the server has others of: new ones are made", async () => {
  await using stage = clientStage();
  const store = new MemoryStore();
  const alice = stage.client("alice", { encryption: EVERYBODY, store });
  await begin(stage, alice);
  const old = await copyOf(store);
  // Others use up some of its keys, and it makes more.
  const roomId = await alice.createRoom({
    initialState: ENCRYPTED,
  });
  const claim = async (name: string): Promise<void> => {
    const client = stage.client(name, { encryption: EVERYBODY });
    await begin(stage, client);
    await alice.inviteUser(roomId, `@${name}:localhost`);
    await client.joinRoom(roomId);
    await client.sendText(roomId, "Hello");
    await stage.settle();
  };
  await claim("bob");
  await claim("carol");
  await alice.close();
  await stage.clock.tick(LEASE);

  const again = stage.client("alice", { encryption: EVERYBODY, store: old });
  const texts = heard(again);
  await begin(stage, again);
  await stage.settle();
  await claim("dave"); // with a key that is good
  await stage.until(() => texts.includes("Hello"));
  await again.sendText(roomId, "Hello, dave");
  await stage.settle();
  const answers = stage.log.lines.filter((line) => JSON.stringify(line).includes("set back"));
  assert(answers.length > 0);
});
