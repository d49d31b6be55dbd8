import { assertEquals, assertInstanceOf } from "@std/assert";
import type { SyncCrypto } from "../../../src/actors/crypto/crypto.ts";
import type { CryptoInput } from "../../../src/crypto/engine/engine.ts";
import { type Decryption, type JsonObject, type MessageEvent, SyncStream } from "@greenroom/matrix/types";
import { ActorError, DecryptionError } from "@greenroom/matrix/errors";
import type { RecoveredEvent } from "../../../src/crypto/megolm/mod.ts";
import { eventType } from "../../../src/types/events/event_type.ts";
import { rejectionOf } from "../kernel/support.ts";
import { INFO, joined, MEGOLM, message, ROOM, state, timeline } from "../support/events.ts";
import { type SyncerStage, syncerStage } from "../support/syncer_stage.ts";

/** "Decrypts" what was written as plain text, and keeps what it was given and when. */
function fakeCrypto(
  order: string[] = [],
  recovered: readonly RecoveredEvent[] = [],
): Pick<SyncCrypto, "receiveSync"> & { inputs: CryptoInput[] } {
  const inputs: CryptoInput[] = [];
  const decrypt = (event: MessageEvent): Decryption => {
    const { plain } = event.content;
    if (typeof plain !== "string") return { code: "MISSING_KEY", reason: "No session" };
    const content = { msgtype: "m.text", body: plain };
    return { event: { ...event, type: "m.room.message", content }, encryption: INFO };
  };
  return {
    inputs,
    receiveSync(input) {
      order.push("crypto");
      inputs.push(input);
      const toDevice = input.toDevice.filter(({ type }) => type !== "m.room_key").map((event) => ({
        event: event.type === "m.room.encrypted" ? { ...event, type: "m.dummy" } : event,
      }));
      const decrypted = input.encrypted.map(decrypt);
      return Promise.resolve({ toDevice, decrypted, underway: [], recovered, encryptedRooms: new Set() });
    },
  };
}

function encrypted(id: string, content: JsonObject = { plain: id }): JsonObject {
  return message(id, { type: "m.room.encrypted", content });
}

/** Everything that reaches handlers of all events, of messages and of encrypted events. */
function seenBy({ api }: SyncerStage): string[] {
  const seen: string[] = [];
  api.on((event) => seen.push(`all ${event.type}`));
  api.on("m.room.message", ({ content, event_id }) => seen.push(`${event_id} ${content.body}`));
  api.on("m.room.encrypted", ({ event_id }) => seen.push(`${event_id} encrypted`));
  return seen;
}

Deno.test("Handlers get decrypted events in their places, each once, and no encrypted ones", async () => {
  const crypto = fakeCrypto();
  const answers = [joined(timeline([message("1"), encrypted("2"), message("3")]))];
  await using here = await syncerStage({ answers, crypto });
  const seen = seenBy(here);
  await here.api.syncOnce();
  const all = "all m.room.message";
  assertEquals(seen, [all, "$1 1", all, "$2 2", all, "$3 3"]);
});

Deno.test("An event that can't be decrypted is delivered as it is, and then reported with the reason", async () => {
  const crypto = fakeCrypto();
  await using here = await syncerStage({
    answers: [joined(timeline([encrypted("1", MEGOLM), encrypted("2")]))],
    crypto,
  });
  const seen = seenBy(here);
  here.api.on("UNDECRYPTABLE", ({ event, reason }) => {
    assertInstanceOf(reason, DecryptionError);
    seen.push(`${event.event_id} undecryptable: ${reason.message}`);
  });
  await here.api.syncOnce();
  assertEquals(seen, [
    ...["all m.room.encrypted", "$1 encrypted", "$1 undecryptable: No session"],
    ...["all m.room.message", "$2 2"],
  ]);
});

Deno.test("A response is decrypted first, then committed, then delivered", async () => {
  const order: string[] = [];
  const crypto = fakeCrypto(order);
  await using here = await syncerStage({ answers: [joined(timeline([encrypted("1")]))], crypto });
  const commit = here.kv.commit.bind(here.kv);
  here.kv.commit = (...args) => {
    order.push("store");
    return commit(...args);
  };
  here.api.on("m.room.message", () => order.push("handler"));
  await here.api.syncOnce();
  assertEquals(order, ["crypto", "store", "handler", "store"]); // in the end the note of what was handled
});

Deno.test("waitSync and sequential hold for decrypted events", async () => {
  const crypto = fakeCrypto();
  await using here = await syncerStage({
    answers: [joined(timeline([encrypted("1"), encrypted("2")]))],
    crypto,
  });
  const gates = new Map<string, PromiseWithResolvers<void>>();
  here.api.on("m.room.message", ({ content }) => {
    const gate = Promise.withResolvers<void>();
    gates.set(content.body, gate);
    return gate.promise;
  }, { waitSync: true, sequential: true });
  here.api.start();
  for (const text of ["1", "2"]) {
    await here.settle();
    assertEquals([here.asked.length, gates.has("2")], [1, text === "2"]);
    gates.get(text)?.resolve();
  }
  await here.settle();
  assertEquals(here.asked.length, 2);
});

Deno.test("Crypto gets keys, devices, state and messages to the device; handlers get those it leaves", async () => {
  const crypto = fakeCrypto();
  const to = (type: string) => ({ type, sender: "@bob:a", content: {} });
  const answer = joined({ state: { events: [state("m.room.encryption", { algorithm: "a" })] } }, {
    next_batch: "t",
    to_device: { events: [to("m.room_key"), to("m.room.encrypted"), to("m.room_key_request")] },
    device_lists: { changed: ["@bob:a"] },
    device_one_time_keys_count: { signed_curve25519: 3 },
    device_unused_fallback_key_types: ["signed_curve25519"],
  });
  await using here = await syncerStage({ answers: [answer], crypto });
  const seen: string[] = [];
  here.api.on((event) => {
    if ((event.source & SyncStream.TO_DEVICE) !== 0) seen.push(event.type);
  });
  here.api.on(eventType("m.dummy", "to_device"), () => seen.push("dummy"));
  await here.api.syncOnce();
  assertEquals(seen, ["m.dummy", "dummy", "m.room_key_request"]);
  const [input] = crypto.inputs;
  assertEquals(input?.toDevice.map(({ type }) => type), [
    "m.room_key",
    "m.room.encrypted",
    "m.room_key_request",
  ]);
  assertEquals(input?.state.map(({ roomId, events }) => [roomId, events.length]), [[ROOM, 1]]);
  const { nextBatch, deviceLists, oneTimeKeyCounts, unusedFallbackTypes } = input ?? {};
  assertEquals([nextBatch, deviceLists, oneTimeKeyCounts, unusedFallbackTypes], [
    "t",
    { changed: ["@bob:a"], left: [] },
    { signed_curve25519: 3 },
    ["signed_curve25519"],
  ]);
});

Deno.test("Crypto gets the whole response also where its timeline is dropped", async () => {
  const crypto = fakeCrypto();
  const answer = joined(timeline([encrypted("1")]), {
    to_device: { events: [{ type: "m.room_key", sender: "@bob:a", content: {} }] },
  });
  await using here = await syncerStage({ answers: [answer], crypto });
  await here.api.syncOnce({ ignoreInitialSync: true });
  assertEquals(crypto.inputs.map(({ toDevice }) => toDevice.length), [1]);
});

Deno.test("A crash of Crypto ends the sync before anything is committed", async () => {
  const broken = new Error("The account is broken");
  const failure = new ActorError("crypto", { cause: broken });
  const crypto = { receiveSync: () => Promise.reject(failure) };
  await using here = await syncerStage({ answers: [joined(timeline([encrypted("1")]))], crypto });
  const error = await rejectionOf(here.api.start());
  assertInstanceOf(error, ActorError);
  assertEquals([error.actor, error.cause, here.kv.commits.length], ["crypto", broken, 0]);
});

Deno.test("An event whose key has arrived is delivered before the events that came with the key, and then recorded as handled", async () => {
  const event = { ...message("old"), room_id: ROOM, source: SyncStream.JOINED_ROOM | SyncStream.TIMELINE };
  const recovered: RecoveredEvent[] = [{
    event: event as unknown as MessageEvent,
    encryption: INFO,
    ref: { roomId: "!room:a", eventId: "$old" },
  }];
  const crypto = fakeCrypto([], recovered);
  await using here = await syncerStage({ answers: [joined(timeline([encrypted("2")]))], crypto });
  const seen = seenBy(here);
  const gate = Promise.withResolvers<void>();
  here.api.on("m.room.message", ({ event_id }) => event_id === "$old" ? gate.promise : undefined);
  const synced = here.api.syncOnce();
  await here.settle();
  assertEquals(seen.filter((line) => line.startsWith("$")), ["$old old", "$2 2"]);
  assertEquals(here.settled, []);
  gate.resolve();
  await synced;
  await here.settle();
  assertEquals(here.settled, recovered);
});

Deno.test("An unencrypted message in an encrypted room is reported, and delivered only if it is accepted", async () => {
  const answers = [
    joined(timeline([
      message("early"),
      state("m.room.encryption", { algorithm: "m.megolm.v1.aes-sha2" }),
      message("clear"),
      message("reaction", { type: "m.reaction" }),
      encrypted("2"),
    ])),
    joined(timeline([message("later")])),
  ];
  const acceptClear = ({ type }: MessageEvent) => type === "m.reaction";
  await using here = await syncerStage({ answers, crypto: fakeCrypto(), acceptClear });
  const seen: string[] = [];
  here.api.on((event) => {
    if ("event_id" in event) seen.push(`${event.event_id}`);
  });
  here.api.on("UNENCRYPTED", ({ event }) => seen.push(`${event.event_id} in clear`));
  await here.api.syncOnce();
  await here.api.syncOnce();
  const [, encryption] = seen;
  assertEquals(seen, ["$early", encryption, "$clear in clear", "$reaction", "$2", "$later in clear"]);
});
