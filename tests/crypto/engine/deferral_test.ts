/**
 * What a sync changes is durable with the response's token, or before anything that follows from it reaches
 * the server.
 */

import { assertEquals, assertRejects } from "@std/assert";
import { type CryptoInput, Engine } from "../../../src/crypto/engine/engine.ts";
import { DEFAULT_POLICY } from "../../../src/crypto/context/context.ts";
import type { Vault } from "../../../src/crypto/records/mod.ts";
import { TestClock } from "@greenroom/matrix/testing";
import { memoryVault } from "../support/vault.ts";
import { silent } from "./bot.ts";
import { ENCRYPTION, ROOM, stateEvent } from "./homeserver.ts";
import { EVERYBODY } from "../../support/everybody.ts";

/** A vault that tells what is done to it. */
function toldVault() {
  const calls: string[] = [];
  const vault = memoryVault();
  const told: Vault = {
    ...vault,
    commit: (mutations) => (calls.push("commit"), vault.commit(mutations)),
    defer: (mutations) => (calls.push("defer"), vault.defer(mutations)),
    flush: () => (calls.push("flush"), vault.flush()),
  };
  return { vault: told, calls };
}

/** An engine whose keys are published. */
async function published(vault: Vault, clock: TestClock = new TestClock()): Promise<Engine> {
  const account = { userId: "@alice:example.org", deviceId: "A" } as const;
  const engine = await Engine.open({
    account,
    vault,
    clock,
    log: silent,
    policy: { ...DEFAULT_POLICY, ...EVERYBODY },
  });
  const shown = { device_keys: { [account.userId]: {} } };
  for (let requests = await engine.requests(); requests.length > 0; requests = await engine.requests()) {
    for (const { id, kind } of requests) {
      const taken = { one_time_key_counts: { signed_curve25519: 50 } };
      await engine.answer({ id, response: kind === "keysQuery" ? shown : taken });
    }
  }
  return engine;
}

const sync = (oneTimeKeys: number): CryptoInput => ({
  nextBatch: "s1",
  initial: false,
  handledBefore: true,
  toDevice: [],
  deviceLists: { changed: [], left: [] },
  oneTimeKeyCounts: { signed_curve25519: oneTimeKeys },
  unusedFallbackTypes: ["signed_curve25519"],
  state: [],
  encrypted: [],
});

Deno.test("a sync's changes go into the next commit, before any request that follows from them", async () => {
  const { vault, calls } = toldVault();
  const engine = await published(vault);
  calls.length = 0;
  await engine.receiveSync(sync(1)); // others have used its keys: it has to make new ones
  assertEquals(calls, ["defer"]);
  const requests = await engine.requests();
  assertEquals([requests.map(({ kind }) => kind), calls], [["keysUpload"], ["defer", "flush"]]);
  await engine.requests();
  assertEquals(calls, ["defer", "flush"]);
  await engine.close();
});

Deno.test("a commit takes along what a sync has changed: a request that follows waits for no other", async () => {
  const { vault, calls } = toldVault();
  const engine = await published(vault);
  calls.length = 0;
  await engine.receiveSync(sync(1));
  await engine.areDevicesStale({ users: ["@bob:example.org"] }); // is noted
  assertEquals(calls, ["defer", "commit"]);
  const kinds = (await engine.requests()).map(({ kind }) => kind).sort();
  assertEquals([kinds, calls], [["keysQuery", "keysUpload"], ["defer", "commit"]]);
  await engine.close();
});

Deno.test("a sync's changes are written once, before the next request, however late that comes", async () => {
  const { vault, calls } = toldVault();
  const clock = new TestClock();
  const engine = await published(vault, clock);
  await engine.areDevicesStale({ users: ["@bob:example.org"] });
  const failure = { status: 0, errcode: undefined, message: "There is no network" };
  const kinds = async () => {
    const requests = await engine.requests();
    for (const { id } of requests) await engine.fail({ id, failure });
    return requests.map(({ kind }) => kind);
  };
  assertEquals(await kinds(), ["keysQuery"]);
  calls.length = 0;
  const event = stateEvent("m.room.encryption", ENCRYPTION);
  const state = [{ roomId: ROOM, events: [event], limited: false, lossy: false }];
  await engine.receiveSync({ ...sync(50), state });
  assertEquals([await kinds(), calls], [[], ["defer"]]);
  await clock.tick(86_400_000);
  assertEquals([await kinds(), calls], [["keysQuery"], ["defer", "flush"]]);
  await clock.tick(86_400_000);
  assertEquals([await kinds(), calls], [["keysQuery"], ["defer", "flush"]]);
  await engine.close();
});

Deno.test("no request goes out if what led to it can't be written", async () => {
  const { vault } = toldVault();
  const engine = await published({
    ...vault,
    flush: () => Promise.reject(new TypeError("The disk is full")),
  });
  await engine.receiveSync(sync(1));
  await assertRejects(() => engine.requests(), TypeError, "The disk is full");
  await engine.close();
});
