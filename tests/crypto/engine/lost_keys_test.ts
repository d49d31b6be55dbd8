/** A server that has lost the keys of a device while its process goes on, as after a restored backup. */

import { assert, assertEquals } from "@std/assert";
import { aliceAndBob, type Bot } from "./bot.ts";

/** What a server says that has no keys of a device. */
const NONE = { oneTimeKeyCounts: {}, unusedFallbackTypes: [] };

/** How often a bot asks about devices during some work. */
async function queriesDuring({ server }: Bot, work: () => Promise<unknown>): Promise<number> {
  const { answer } = server;
  let count = 0;
  server.answer = (from, request) => {
    if (request.kind === "keysQuery") count++;
    return answer.call(server, from, request);
  };
  await work();
  server.answer = answer;
  return count;
}

Deno.test("a device whose keys the server has lost publishes them again, without a restart", async () => {
  const { server, bob } = await aliceAndBob();
  const before = server.keys.get(bob.userId)?.get(bob.deviceId);
  assert(before !== undefined);
  server.keys.get(bob.userId)?.delete(bob.deviceId);
  await bob.sync(NONE);
  assertEquals(server.keys.get(bob.userId)?.get(bob.deviceId), before);
});

Deno.test("a device notices that its keys are lost though it has uploaded one-time keys since", async () => {
  const { server, bob } = await aliceAndBob();
  server.keys.get(bob.userId)?.delete(bob.deviceId);
  await bob.sync({ oneTimeKeyCounts: { signed_curve25519: 1 }, unusedFallbackTypes: [] });
  assert(server.keys.get(bob.userId)?.has(bob.deviceId));
});

Deno.test("a device whose server knows no fallback keys notices it by the one-time keys", async () => {
  const { server, bob } = await aliceAndBob();
  server.keys.get(bob.userId)?.delete(bob.deviceId);
  await bob.sync({ oneTimeKeyCounts: { signed_curve25519: 1 }, unusedFallbackTypes: undefined });
  assert(!server.keys.get(bob.userId)?.has(bob.deviceId));
  await bob.sync({ oneTimeKeyCounts: {}, unusedFallbackTypes: undefined });
  assert(server.keys.get(bob.userId)?.has(bob.deviceId));
});

Deno.test("a device whose one-time keys are used up does not ask what the server has of it while there is a fallback key", async () => {
  const { bob } = await aliceAndBob();
  const used = { oneTimeKeyCounts: {}, unusedFallbackTypes: ["signed_curve25519"] };
  assertEquals(await queriesDuring(bob, () => bob.sync(used)), 0);
});

Deno.test("a server that always says that it has no keys is asked three times an hour", async () => {
  const { server, bob } = await aliceAndBob();
  const syncs = async () => {
    for (let round = 0; round < 10; round++) await bob.sync(NONE);
  };
  assertEquals(await queriesDuring(bob, syncs), 3);
  await server.clock.tick(3_600_000);
  assertEquals(await queriesDuring(bob, syncs), 3);
});
