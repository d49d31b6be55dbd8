import { assertEquals, assertRejects } from "@std/assert";
import type { DecryptingClient } from "@greenroom/matrix";
import { EncryptionError } from "@greenroom/matrix/errors";
import { InternalEventType, type MessageEvent, SyncStream } from "@greenroom/matrix/types";
import { DecryptionDispatcher } from "../../src/client/mod.ts";
import { message } from "../actors/support/events.ts";

type Encrypted = MessageEvent<"m.room.encrypted">;

/** A dispatcher of a client that tells what it was given. */
function stage(result: object | undefined, waiting?: Encrypted) {
  const told: unknown[] = [];
  const crypto = result && {
    isWaiting: (event: Encrypted) => event === waiting,
    decrypt(event: Encrypted) {
      told.push(["decrypt", event.event_id]);
      return Promise.resolve(result);
    },
  };
  const client: Partial<DecryptingClient> = {
    crypto: crypto as DecryptingClient["crypto"],
    dispatchEvent(event, source) {
      told.push(["dispatch", event, source]);
      return [];
    },
    runInternalEvent(type, data) {
      const { code, withheld, reason } = data as Record<string, Error>;
      told.push([type, code, withheld, reason?.message]);
      return Promise.resolve();
    },
  };
  return { told, dispatcher: new DecryptionDispatcher(client as DecryptingClient) };
}

const encrypted = (rest: object = {}) =>
  message("1", { type: "m.room.encrypted", ...rest }) as unknown as Encrypted;
const PLAIN = { type: "m.room.message" };

Deno.test("An event that can be decrypted is dispatched in plain text with its source, and not reported", async () => {
  for (const source of [SyncStream.TIMELINE, undefined]) {
    const { told, dispatcher } = stage({ event: PLAIN });
    const event = encrypted({ source });
    await dispatcher.handle(event);
    assertEquals(told, [
      ["decrypt", event.event_id],
      ["dispatch", PLAIN, source ?? SyncStream.INTERNAL],
    ]);
  }
});

Deno.test("An event that can't be decrypted is reported with the reason, and not dispatched", async () => {
  const { told, dispatcher } = stage({ code: "missing_key", reason: "no key", withheld: "m.blacklisted" });
  const event = encrypted();
  await dispatcher.handle(event);
  assertEquals(told, [
    ["decrypt", event.event_id],
    [InternalEventType.UNDECRYPTABLE, "missing_key", "m.blacklisted", "no key"],
  ]);
});

Deno.test("An event that waits for its key, or was redacted, is left alone", async () => {
  const waiting = encrypted();
  const redacted = encrypted({ content: {}, unsigned: { redacted_because: message("2") } });
  for (const event of [waiting, redacted]) {
    const { told, dispatcher } = stage({ event: PLAIN }, waiting);
    await dispatcher.handle(event);
    assertEquals(told, []);
  }
});

Deno.test("Without encryption, decrypting rejects with the reason", async () => {
  const { dispatcher } = stage(undefined);
  await assertRejects(() => dispatcher.handle(encrypted()), EncryptionError, "has no encryption");
});
