/** What the server has of the own keys, as far as its answers tell. */

import { assert, assertEquals } from "@std/assert";
import { sameKeys } from "../../../src/crypto/account/key_upload.ts";
import { counts, fresh } from "./uploads.ts";

const HOUR = 3_600_000;

Deno.test("a store is one of which the server had something as soon as it took an upload, or was set back", async () => {
  const [never, uploaded, setBack] = [await fresh(), await fresh(), await fresh()];
  await uploaded.upload();
  await setBack.step((tx) => setBack.keys.recoverFromRollback(tx));
  for (const [peer, had] of [[never, false], [uploaded, true], [setBack, true]] as const) {
    assertEquals(peer.keys.wasPublished, had);
    await peer.restart();
    assertEquals(peer.keys.wasPublished, had);
  }
  await uploaded.step((tx) => uploaded.keys.checkServer(tx, "missing")); // it has lost the device
  assert(uploaded.keys.wasPublished);
});

Deno.test("a server with another key for one of the two identity keys differs from one that has both", async () => {
  const peer = await fresh();
  const keys = peer.keys.deviceKeys();
  const other = (await fresh()).keys.deviceKeys().keys;
  for (const name of ["ed25519:ALICE", "curve25519:ALICE"]) {
    const shown = { ...keys, keys: { ...keys.keys, [name]: other[name] ?? "" } };
    assertEquals(await peer.step((tx) => peer.keys.checkServer(tx, shown)), "differs", name);
  }
  assert(!peer.keys.isPublished);
});

Deno.test("a check that finds all as it was writes nothing", async () => {
  const peer = await fresh();
  const check = async (shown: Parameters<typeof peer.keys.checkServer>[1]) => {
    peer.written = [];
    await peer.step((tx) => peer.keys.checkServer(tx, shown));
    return peer.written;
  };
  assertEquals(await check("missing"), []);
  await peer.upload();
  assertEquals(await check(peer.keys.deviceKeys()), []);
  assert(peer.keys.isPublished);
});

Deno.test("a server that loses the keys again and again gets them three times an hour", async () => {
  const peer = await fresh();
  await peer.upload();
  let uploads = 0;
  for (let time = 0; time < 10; time++) {
    await peer.step((tx) => peer.keys.checkServer(tx, "missing"));
    if (await peer.upload() !== undefined) uploads++;
  }
  assertEquals(uploads, 3);
});

Deno.test("the answer to an upload without identity keys does not show that the server has them", async () => {
  const peer = await fresh();
  await peer.upload();
  await counts(peer, 40);
  const request = peer.keys.nextUpload();
  assert(request !== undefined && request.device_keys === undefined);
  await peer.step((tx) => peer.keys.checkServer(tx, "missing"));
  await peer.step((tx) => peer.keys.receiveUpload(tx, request, { one_time_key_counts: {} }));
  assert(!peer.keys.isPublished);
});

Deno.test("an answer that does not say how many keys the server has makes no more", async () => {
  for (const response of [{}, { one_time_key_counts: null }, { one_time_key_counts: "50" }]) {
    const peer = await fresh();
    await peer.upload();
    await counts(peer, 40);
    const request = peer.keys.nextUpload();
    assert(request !== undefined);
    await peer.step((tx) => peer.keys.receiveUpload(tx, request, response));
    assertEquals(peer.keys.nextUpload(), undefined);
  }
});

Deno.test("a store is one of which the server had something, whatever of it is left in doubt", async () => {
  const [shown, replaced] = [await fresh(), await fresh()];
  // The answer to the upload never came.
  await shown.step((tx) => shown.keys.checkServer(tx, shown.keys.deviceKeys()));
  assert(shown.keys.wasPublished);
  await replaced.upload();
  await replaced.clock.tick(HOUR);
  await replaced.step((tx) => replaced.keys.receiveCounts(tx, { signed_curve25519: 50 }, []));
  await replaced.step((tx) => replaced.keys.checkServer(tx, "missing"));
  assert(replaced.keys.wasPublished);
});

Deno.test("the answer to an upload of identity keys alone makes no keys", async () => {
  const peer = await fresh();
  await peer.upload();
  await peer.step((tx) => peer.keys.checkServer(tx, "missing"));
  const request = peer.keys.nextUpload();
  assertEquals(Object.keys(request ?? {}), ["device_keys"]);
  assert(request !== undefined);
  const response = { one_time_key_counts: { signed_curve25519: 10 } };
  await peer.step((tx) => peer.keys.receiveUpload(tx, request, response));
  assertEquals(peer.keys.nextUpload(), undefined);
});

Deno.test("counts that call for no keys write nothing", async () => {
  const peer = await fresh();
  await peer.upload();
  await peer.clock.tick(2 * HOUR);
  for (const count of [50, 50.5, 51, 1e300]) {
    peer.written = [];
    await counts(peer, count);
    assertEquals(peer.written, []);
  }
});

Deno.test("the fallback key before stays as long as the server does not have the new one", async () => {
  const peer = await fresh();
  await peer.upload();
  const since = peer.keys.oldestFallbackSince();
  await peer.clock.tick(HOUR);
  await peer.step((tx) => peer.keys.receiveCounts(tx, { signed_curve25519: 50 }, []));
  await peer.clock.tick(2 * HOUR);
  await counts(peer, 50);
  assertEquals(peer.keys.oldestFallbackSince(), since);
});

Deno.test("after the store was set back, the age of the oldest fallback key is unknown until the previous one is dropped", async () => {
  const peer = await fresh();
  await peer.step((tx) => peer.keys.recoverFromRollback(tx));
  await peer.upload();
  const since = peer.clock.now();
  assertEquals(peer.keys.oldestFallbackSince(), undefined);
  await peer.clock.tick(HOUR);
  await counts(peer, 50);
  assertEquals(peer.keys.oldestFallbackSince(), since);
});

Deno.test("uploads are the same if their keys are, be they signed or not, one-time or fallback", () => {
  const key = { key: "A", signatures: {} };
  assert(sameKeys({ one_time_keys: { "x:A": "A" } }, { one_time_keys: { "x:A": "A" } }));
  assert(!sameKeys({ one_time_keys: { "x:A": "A" } }, { one_time_keys: { "x:A": "B" } }));
  assert(sameKeys({ fallback_keys: { "x:A": key } }, { fallback_keys: { "x:A": { ...key } } }));
  assert(!sameKeys({ fallback_keys: { "x:A": key } }, { fallback_keys: { "x:A": { ...key, key: "B" } } }));
});
