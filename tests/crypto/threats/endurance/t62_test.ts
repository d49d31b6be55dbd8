/**
 * An attacker who can choose a name that is part of a record's key (of a room, a user, a device, an
 * event, a type, a state key) makes it so long, or of such characters, that the key is longer than
 * the store allows: the commit fails, and the bot ends. No key may be too long for any store,
 * whatever it is made of; different names stay different, and what is below a key is found below
 * it. Records under present names are found as before.
 *
 * Class of mistake: a limit of a dependency is left to chance, since the values that are passed to
 * it are mostly short.
 */

import { assert, assertEquals, assertNotEquals } from "@std/assert";
import fc from "fast-check";
import { KvStore } from "@greenroom/matrix/store/kv";
import type { StoreKey } from "@greenroom/matrix";
import { StoreKeys } from "../../../../src/store/device/mod.ts";
import type { RoomID } from "@greenroom/matrix/types";
import { STORES } from "../victim.ts";

const PREFIX = ["@bot:example.org", "DEVICE"];
/** One byte each, or two, or three, what the stores escape, halves of pairs, and pairs. */
const UNITS = ["a", "\0", "é", "\u0001", "€", "\ue000", "\uffff", "\ud800", "\udc00", "😀", "sha256:"];

const name = fc.tuple(fc.constantFrom(...UNITS), fc.integer({ min: 0, max: 3_000 }), fc.string())
  .map(([unit, times, rest]) => unit.repeat(times) + rest);
const path = fc.array(name, { minLength: 1, maxLength: 5 });

Deno.test("T62: names of any length and of any characters make keys that Deno KV takes, each another one", async () => {
  await using store = await KvStore.open(":memory:");
  const keys = new StoreKeys(PREFIX);
  await fc.assert(
    fc.asyncProperty(path, path, async (one, other) => {
      const [key, otherKey] = [keys.record(one), keys.record(other)];
      assert(await store.commit([{ type: "set", key, value: "here" }]));
      assertEquals((await store.getMany([key]))[0]?.value, "here");
      assertEquals(
        JSON.stringify(key) === JSON.stringify(otherKey),
        JSON.stringify(one) === JSON.stringify(other),
      );
    }),
    { numRuns: 300 },
  );
});

Deno.test("T62: what is below a key is found below it, however long the names are", () => {
  const keys = new StoreKeys(PREFIX);
  fc.assert(fc.property(path, fc.nat(5), (whole, length) => {
    const above = keys.record(whole.slice(0, length));
    assertEquals(keys.record(whole).slice(0, above.length), above);
  }));
});

Deno.test("T62: the longest names that servers pass on stand in keys as they are: what was kept before is found", () => {
  const names = { room: `!${"r".repeat(254)}`, user: `@${"é".repeat(124)}:a.org`, key: "k".repeat(255) };
  const keys = new StoreKeys([`@${"b".repeat(244)}:a.org`, "D".repeat(255)]);
  const paths: StoreKey[] = [
    ["state", names.room, names.key, names.key],
    ["crypto", "outbound_share", names.user, names.room, names.key.slice(0, 43)],
    ["crypto", "olm-wanted", names.user, names.key],
    ["crypto", "keyAnswer", names.user, names.key, names.key],
    ["crypto", "withheld", names.user, JSON.stringify([names.room, names.key])],
    ["shown", "log", "000000000001"],
  ];
  for (const path of paths) assertEquals(keys.record(path).slice(2), path);
  const { room, key } = names;
  assertEquals(keys.state(room as RoomID, key, key).slice(2), paths[0]);
});

Deno.test("T62: no name passes for the hash of another", () => {
  const keys = new StoreKeys(PREFIX);
  const long = keys.record(["state", "!r", "x".repeat(3_000)]);
  const hash = long.at(-1) ?? "";
  assert(hash.length < 64, hash);
  assertNotEquals(keys.record(["state", "!r", hash]), long);
});

for (const [name, open] of Object.entries(STORES)) {
  Deno.test(`T62: state under names that take twice the bytes in a key is kept in a ${name}, and found`, async () => {
    const store = await open();
    try {
      const keys = new StoreKeys(PREFIX);
      const room = `!${"\ue000".repeat(84)}` as RoomID;
      const [type, stateKey] = ["\0".repeat(255), "\ue000".repeat(85)];
      const key = keys.state(room, type, stateKey);
      await store.commit([{ type: "set", key, value: { type, stateKey } }]);
      const found = (await Array.fromAsync(store.list(keys.states(room, type)))).map(({ value }) => value);
      assertEquals(found, [{ type, stateKey }]);
      assertEquals((await Array.fromAsync(store.list(keys.states(room)))).length, 1);
    } finally {
      await store.close();
    }
  });
}
