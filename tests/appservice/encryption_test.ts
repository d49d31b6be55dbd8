import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { encryptionOf, type StoreKey, ValueError } from "@greenroom/matrix";
import { EncryptionError } from "@greenroom/matrix/errors";
import { isJsonObject } from "../../src/types/json.ts";
import { heard } from "../client/support/stage.ts";
import { EVERYBODY } from "../support/everybody.ts";
import { appserviceScene, message, registration } from "./scene.ts";

/** An application service that encrypts, whose own user is in Alice's room. */
async function encryptedScene() {
  const scene = await appserviceScene({ encryption: true });
  const { alice, roomId, serving, stage } = scene;
  const read: unknown[] = [];
  alice.on("m.room.message", (event) => {
    if (event.sender !== alice.mxid) {
      read.push([event.sender, event.content.body, encryptionOf(event) !== undefined]);
    }
  });
  await serving?.botClient.joinRoom(roomId);
  await serving?.handlePending();
  await alice.syncOnce();
  return Object.assign(scene, {
    read,
    /** Waits until Alice has read so much. */
    async reads(count: number): Promise<unknown[]> {
      for (let round = 0; round < 50 && read.length < count; round++) {
        await stage.settle();
        await alice.syncOnce();
      }
      return read;
    },
  });
}

Deno.test("What Alice says is decrypted by the own user, and ghosts answer encrypted, each with its device", async () => {
  await using scene = await encryptedScene();
  const { alice, roomId, serving, stage } = scene;
  const heard: unknown[] = [];
  serving?.on(
    "m.room.message",
    (event) => heard.push([event.content.body, encryptionOf(event) !== undefined]),
  );
  await alice.sendText(roomId, "secret");
  assertEquals(await scene.reads(1), [["@_echo_parrot:localhost", "1: secret", true]]);
  await serving?.intent("_echo_polly").sendText(roomId, "Polly here");
  assertEquals((await scene.reads(2)).at(-1), ["@_echo_polly:localhost", "Polly here", true]);
  assertEquals(heard, [["secret", true]]);
  assert(stage.homeserver.room(roomId).messages.every(({ type }) => type === "m.room.encrypted"));
});

Deno.test("What can't be read of own users is told to those who want what they send, and of others to all", async () => {
  await using scene = await encryptedScene();
  const { serving, roomId } = scene;
  const all: string[] = [];
  const others: string[] = [];
  serving?.on("UNDECRYPTABLE", ({ event }) => all.push(event.sender), { own: true });
  serving?.on("UNDECRYPTABLE", ({ event }) => others.push(event.sender));
  const content = { algorithm: "m.megolm.v1.aes-sha2", ciphertext: "AAAA", session_id: "unknown" };
  const senders = ["@_echo_parrot:localhost", "@alice:localhost"];
  await scene.send(
    "t-1",
    senders.map((sender) => message(roomId, "", { type: "m.room.encrypted", content, sender })),
  );
  assertEquals([all, others], [senders, ["@alice:localhost"]]);
});

Deno.test("The records of each user's encryption are its own, and a new process goes on with them", async () => {
  await using scene = await encryptedScene();
  const { alice, roomId, store } = scene;
  await alice.sendText(roomId, "a");
  await scene.reads(1);
  const owners = new Set<string>();
  for await (const { key } of store.list([])) if (key.includes("crypto")) owners.add(ownerOf(key));
  assertEquals([...owners].sort(), ["@_echo_parrot:localhost GREENROOM", "@echo:localhost GREENROOM"]);
  await scene.serving?.close();
  scene.serving = scene.instance();
  await alice.sendText(roomId, "b");
  assertEquals((await scene.reads(2)).at(-1), ["@_echo_parrot:localhost", "2: b", true]);
  const uploads = scene.stage.homeserver.requests.filter("POST", "/keys/upload")
    .filter(({ query, json }) =>
      query.get("user_id") === "@_echo_parrot:localhost" && isJsonObject(json) && "device_keys" in json
    );
  assertEquals(uploads.length, 1);
});

function ownerOf(key: StoreKey): string {
  return key.slice(0, 2).join(" ");
}

Deno.test("More encrypting users than maxActing take turns, and what each has is not lost", async () => {
  await using scene = await encryptedScene();
  await scene.serving?.close();
  const appservice = scene.serving = scene.instance({ maxActing: 1 });
  for (const round of [1, 2]) {
    for (const user of ["_echo_a", "_echo_b", "_echo_c"]) {
      await appservice.intent(user).sendText(scene.roomId, `${user} ${round}`);
    }
  }
  const read = await scene.reads(6) as [string, string, boolean][];
  assertEquals(
    read.map(([, body]) => body),
    [1, 2].flatMap((round) => ["a", "b", "c"].map((name) => `_echo_${name} ${round}`)),
  );
});

Deno.test("Encrypting users that act at the same time are not cut off when there are more than maxActing", async () => {
  await using scene = await encryptedScene();
  await scene.serving?.close();
  const appservice = scene.serving = scene.instance({ maxActing: 1 });
  const users = ["_echo_a", "_echo_b", "_echo_c", "_echo_a", "_echo_b"];
  let sent = 0;
  const all = Promise.all(users.map(async (user, index) => {
    await appservice.intent(user).sendText(scene.roomId, `${index}`);
    sent++;
  }));
  await scene.stage.until(() => sent === users.length);
  await all;
  const read = await scene.reads(users.length) as [string, string, boolean][];
  assertEquals(read.map(([, body]) => body).sort(), users.map((_, index) => `${index}`));
});

Deno.test("Keys that the homeserver drops from transactions while the application service is down are read when it is back", async () => {
  for (const isNew of [true, false]) {
    await using scene = await encryptedScene();
    const { alice, roomId, stage } = scene;
    await alice.sendText(roomId, "before");
    await scene.reads(1);
    const { serving } = scene;
    if (isNew) await serving?.close();
    scene.serving = undefined;
    await alice.sendText(roomId, "a"); // the homeserver notices with this one
    await stage.settle();
    await alice.crypto?.discardGroupSession(roomId);
    await alice.sendText(roomId, "b");
    await stage.settle();
    const undecryptable: unknown[] = [];
    scene.serving = isNew ? scene.instance() : serving;
    scene.serving?.on("UNDECRYPTABLE", ({ code }) => undecryptable.push(code));
    await stage.clock.tick(2_000);
    assertEquals((await scene.reads(3) as [string, string][]).map(([, body]) => body), [
      "1: before",
      "2: a",
      "3: b",
    ]);
    assertEquals(undecryptable, []);
  }
});

Deno.test("Many encrypted messages that a process has received and not handled are handled by the next, once", async () => {
  await using scene = await encryptedScene();
  const { alice, roomId, stage } = scene;
  await scene.serving?.close();
  const first = scene.serving = scene.instance();
  const cut = Promise.withResolvers<void>();
  const seen: string[] = [];
  first.on("m.room.message", ({ content }) => {
    seen.push(content.body);
    return cut.promise; // it is at work when the process ends
  });
  const done = first.start();
  const texts = Array.from({ length: 45 }, (_, index) => String(index));
  for (const text of texts) {
    await alice.sendText(roomId, text);
    await stage.settle(); // a transaction of its own
  }
  assertEquals(seen, texts);
  const closing = first.close();
  cut.reject(new Error("the process ends"));
  await Promise.all([closing, done]);
  const again: string[] = [];
  scene.serving = scene.instance();
  scene.serving.on("m.room.message", ({ content }) => void again.push(content.body));
  assert(await scene.serving.handlePending());
  assertEquals(again, texts);
});

Deno.test("An encrypted room that all own users have left, and come back to a week later, is read again", async () => {
  await using scene = await encryptedScene();
  const { alice, roomId, stage } = scene;
  await alice.sendText(roomId, "before");
  await scene.reads(1);
  await scene.serving?.intent("_echo_parrot").leaveRoom(roomId);
  await scene.serving?.botClient.leaveRoom(roomId);
  await stage.settle();
  await scene.serving?.handlePending();
  await scene.serving?.close(); // so that nothing ticks
  await stage.clock.tick(8 * 86_400_000);
  const back = scene.serving = scene.instance();
  assert(((await back.botClient.prune()).removed.state ?? 0) > 0);
  await alice.syncOnce();
  await back.botClient.joinRoom(roomId);
  await stage.settle();
  await alice.syncOnce();
  await alice.sendText(roomId, "after");
  assertEquals((await scene.reads(2)).at(-1), ["@_echo_parrot:localhost", "2: after", true]);
});

Deno.test("Users read what is sent to their devices: with the transaction that says so, and before they act", async () => {
  await using scene = await encryptedScene();
  const { alice, roomId, stage, serving } = scene;
  const [ghost, device] = ["@_echo_parrot:localhost", "GREENROOM"] as const;
  await alice.sendText(roomId, "a");
  await scene.reads(1);
  const message = { type: "m.dummy", messages: { [ghost]: { [device]: {} } } };
  const queued = () => stage.homeserver.toDevice(ghost, device).length;
  const reads = () =>
    stage.homeserver.requests.filter("GET", "/sync").filter(({ query }) => query.get("user_id") === ghost)
      .length;
  const send = () => alice.sendToDevice(message.type, message.messages);
  const before = reads();
  await send();
  await stage.until(() => reads() > before);
  await serving?.close();
  scene.serving = undefined;
  await alice.sendText(roomId, "b");
  await stage.settle();
  await send();
  const [left, after] = [queued(), reads()]; // no transaction will tell of it
  scene.serving = scene.instance();
  await stage.clock.tick(2_000);
  await scene.reads(2);
  await stage.until(() => reads() > after);
  await send(); // the next time, the homeserver forgets what has been read
  await stage.until(() => queued() <= left);
});

Deno.test("A user that has read what its device was sent asks who is in a room before it encrypts, all the same", async () => {
  await using scene = await encryptedScene();
  const { alice, roomId, stage, serving } = scene;
  const bob = stage.client("bob", { encryption: EVERYBODY });
  const ghost = serving?.intent("_echo_polly");
  await ghost?.sendText(roomId, "to Alice");
  await bob.joinRoom(roomId);
  await bob.syncOnce();
  const heardByBob = heard(bob);
  await stage.clock.tick(20_000);
  await alice.sendToDevice("m.dummy", { "@_echo_polly:localhost": { GREENROOM: {} } });
  const isRead = ({ query }: { readonly query: URLSearchParams }) =>
    query.get("user_id") === "@_echo_polly:localhost" && query.has("since");
  await stage.until(() => stage.homeserver.requests.filter("GET", "/sync").some(isRead));
  await ghost?.sendText(roomId, "to both");
  await bob.syncOnce();
  assertEquals(heardByBob, ["to both"]);
});

Deno.test("One-time keys of the own user are replaced when transactions say that they are used up", async () => {
  await using scene = await encryptedScene();
  const { alice, stage, serving, roomId } = scene;
  const left = async (): Promise<number> => {
    const answer = await serving?.botClient.request<{ one_time_key_counts: { signed_curve25519: number } }>(
      "POST",
      "/_matrix/client/v3/keys/upload",
      { body: {} },
    );
    return answer?.one_time_key_counts.signed_curve25519 ?? 0;
  };
  for (let claims = await left() - 20; claims > 0; claims--) {
    await alice.claimKeys({ "@echo:localhost": { GREENROOM: "signed_curve25519" } });
  }
  assertEquals(await left(), 20);
  await alice.sendText(roomId, "who is there?");
  await scene.reads(1);
  await stage.settle();
  assert(await left() >= 49); // Alice has used one
});

Deno.test("Where the homeserver lets nobody make devices, an encrypting user says so", async () => {
  await using scene = await encryptedScene();
  using _fault = scene.stage.homeserver.faults.add({
    kind: "status",
    status: 404,
    body: { errcode: "M_NOT_FOUND", error: "No device found" },
    match: { path: "/devices/" },
  });
  const error = await assertRejects(
    async () => await scene.serving?.intent("_echo_new").sendText(scene.roomId, "a"),
    EncryptionError,
  );
  assert(error.message.includes("io.element.msc4190"));
});

Deno.test("An own user that is the sender of the registration can't encrypt: its homeserver lets it read no messages to its device", async () => {
  await using scene = await appserviceScene({ isServing: false });
  const { homeserver } = scene.stage;
  assertThrows(() => scene.instance({ encryption: true }), ValueError, "with encryption");
  const { status } = await homeserver.fetch(`${homeserver.baseUrl}/_matrix/client/v3/sync`, {
    headers: { authorization: `Bearer ${registration.as_token}` },
  });
  assertEquals(status, 500);
});

Deno.test("A user of an application service without a device can't upload keys", async () => {
  await using scene = await appserviceScene();
  await assertRejects(
    async () =>
      await scene.serving?.botClient.request("POST", "/_matrix/client/v3/keys/upload", { body: {} }),
    Error,
    "device_id",
  );
});
