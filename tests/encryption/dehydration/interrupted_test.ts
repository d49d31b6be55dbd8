/** An engine that fails or ends while it sees to the dehydrated device. */

import { assert, assertEquals } from "@std/assert";
import { ActorError, ActorStoppedError } from "@greenroom/matrix/errors";
import type { EngineRunner } from "../../../src/actors/crypto/crypto.ts";
import {
  type DehydrationAPI,
  ensureDehydrated,
  type ShownIdentity,
} from "../../../src/encryption/ensure_dehydrated.ts";
import { recordingLogger } from "../../actors/kernel/support.ts";
import { ALICE, KEY } from "../identity/scene.ts";

/** Sees to the device with an engine of which some answers are given. */
async function ensured(answers: object) {
  const log = recordingLogger();
  const actor = {
    devicesOf: () => Promise.resolve([{ isDehydrated: true, trust: "verified" }]),
    beginRehydration: () => Promise.resolve("reading"),
    keepPickleKey: (key: string) => Promise.resolve(key === KEY),
    ...answers,
  };
  const engine = { actor, log, clock: { now: () => 0 } } as unknown as EngineRunner;
  const api = {
    getDehydratedDevice: () => Promise.resolve({ device_id: "DEHYDRATED" }),
    getDehydratedDeviceEvents: () => Promise.resolve({ events: [null, null], next_batch: "d1" }),
  } as unknown as DehydrationAPI;
  const identity = {
    state: () => Promise.resolve({ shown: { userId: ALICE } }),
  } as unknown as ShownIdentity;
  const storage = {
    get: () => Promise.resolve(KEY),
    set: () => Promise.resolve(),
    delete: () => Promise.resolve(),
  };
  const outcome = await ensureDehydrated(engine, api, identity, () => Promise.resolve(storage));
  return { outcome, log };
}

Deno.test("What is left of a device that was read is cleared to its end, however many steps that takes", async () => {
  let steps = 0;
  const { outcome } = await ensured({
    dehydrationState: () =>
      Promise.resolve({
        made: { deviceId: "DEHYDRATED", at: 0, isUploaded: true },
        reading: { isRead: true },
      }),
    clearRehydration: () => Promise.resolve(++steps === 4),
  });
  assertEquals([outcome, steps], ["on", 4]);
});

Deno.test("An engine that ends leaves no message out: what was not received is read the next time", async () => {
  for (const error of [new ActorError("crypto", { cause: "it failed" }), new ActorStoppedError("crypto")]) {
    let received = 0;
    const { outcome, log } = await ensured({
      dehydrationState: () => Promise.resolve({ canSign: true, reading: { isRead: false } }),
      receiveRehydrated: () => (received++, Promise.reject(error)),
    });
    assertEquals([outcome, received], ["failed", 2], "the page, and its first message");
    assert(!log.lines.some(([, message]) => message.startsWith("Skipped")));
  }
});
