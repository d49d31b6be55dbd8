/** Key files of an engine. */

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import type { KeyExportProgress, KeyImportProgress } from "@greenroom/matrix/types";
import { openKeyFile } from "../../src/crypto/key_files/key_files.ts";
import { aliceAndBob, type Bot } from "../crypto/engine/bot.ts";
import { type Entry, fileOf, keyFilesOf, newEntries, PASSPHRASE } from "../crypto/key_files/stage.ts";
import { ROOM } from "../crypto/megolm/support.ts";

const EXPORT = { passphrase: PASSPHRASE, rounds: 100_000 };
const IMPORT = { passphrase: PASSPHRASE };

/** The entries of all keys that an engine exports. */
async function exported(bot: Bot, options: { rooms?: (typeof ROOM)[] } = {}): Promise<Entry[]> {
  const file = keyFilesOf(bot).export({ ...EXPORT, ...options });
  const { content } = await openKeyFile(file, IMPORT);
  return JSON.parse(new TextDecoder().decode(await new Blob(await Array.fromAsync(content())).bytes()));
}

const idsOf = (entries: readonly Entry[]) => entries.map(({ session_id }) => session_id).sort();
const none = { total: 0, added: 0, improved: 0, known: 0, refused: 0 };

Deno.test("KeyFiles exports what it has imported, page by page, and importing that again changes nothing", async () => {
  const { bob } = await aliceAndBob();
  const entries = [...newEntries(450), ...newEntries(200, { room_id: "!other:example.org" })];
  const progress: KeyImportProgress[] = [];
  const onProgress = (each: KeyImportProgress) => void progress.push(each);
  const report = await keyFilesOf(bob).import(await fileOf(entries), { ...IMPORT, onProgress });
  assertEquals(report, { ...none, total: 650, added: 650 });
  assertEquals(progress.map(({ added }) => added), [200, 400, 600, 650]);
  assertEquals(progress.map(({ done }) => done), [200, 400, 600, 650]);
  assert(progress.every((each) => !("total" in each)), "how many there are is not known before the end");
  assert(progress.every(({ part }, index) => part >= (progress[index - 1]?.part ?? 0) && part <= 1));
  assertEquals(progress.at(-1)?.part, 1);

  const all = await exported(bob);
  const shared = { shared_history: false, "org.matrix.msc3061.shared_history": false };
  const byId = new Map(all.map((entry) => [entry.session_id, entry]));
  for (const entry of entries) assertEquals(byId.get(entry.session_id), { ...entry, ...shared });
  assertEquals(all.length, 650);
  const before = await Array.fromAsync(bob.store.list([]));
  assertEquals(await keyFilesOf(bob).import(await fileOf(all), IMPORT), { ...none, total: 650, known: 650 });
  assertEquals(await Array.fromAsync(bob.store.list([])), before);
});

Deno.test("KeyFiles exports the rooms that it is asked for, each once, and says how far it is", async () => {
  const { bob } = await aliceAndBob();
  const [here, there] = [newEntries(3), newEntries(250, { room_id: "!other:example.org" })];
  await keyFilesOf(bob).import(await fileOf([...here, ...there]), IMPORT);
  assertEquals(idsOf(await exported(bob, { rooms: [ROOM] })), idsOf(here));
  assertEquals(
    idsOf(await exported(bob, { rooms: ["!other:example.org", "!other:example.org"] })),
    idsOf(there),
  );
  assertEquals(await exported(bob, { rooms: ["!none:example.org"] }), []);
  assertEquals(await exported(bob, { rooms: [] }), []);
  const progress: KeyExportProgress[] = [];
  const file = keyFilesOf(bob).export({ ...EXPORT, onProgress: (each) => void progress.push(each) });
  await new Response(file).bytes();
  assertEquals(progress.map(({ sessions }) => sessions), [200, 253]);
});

Deno.test("KeyFiles refuses to export without a passphrase, or with rounds out of range", async () => {
  const { bob } = await aliceAndBob();
  const files = keyFilesOf(bob);
  assertThrows(() => files.export({ passphrase: "" }), ValueError, "it must be text, and not empty");
  for (const rounds of [0, 99_999, 100_000.5, 10_000_001, NaN]) {
    assertThrows(() => files.export({ passphrase: PASSPHRASE, rounds }), ValueError, `rounds is ${rounds}`);
  }
});

Deno.test("KeyFiles refuses to import without a passphrase", async () => {
  const { bob } = await aliceAndBob();
  const file = await fileOf(newEntries(1));
  await assertRejects(() => keyFilesOf(bob).import(file, { passphrase: "" }), ValueError, "and not empty");
});

Deno.test("KeyFiles takes the good entries of a file, and counts the others", async () => {
  const { bob } = await aliceAndBob();
  const [good, other, ...rest] = newEntries(4);
  assert(good && other);
  const { session_key, session_id } = other;
  const bytes = Uint8Array.fromBase64(session_key);
  const version = (number: number) =>
    Uint8Array.from([number, ...bytes.subarray(1)]).toBase64({ omitPadding: true });
  const bad: unknown[] = [
    null,
    1,
    "text",
    [],
    {},
    [[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]],
    { ...other, algorithm: "m.megolm.v2" },
    { ...other, room_id: "no room" },
    { ...other, room_id: 1 },
    { ...other, session_id: good.session_id },
    { ...other, session_id: ["__proto__"] },
    { ...other, session_key: version(2) },
    { ...other, session_key: session_key.slice(0, -4) },
    { ...other, session_key: `${session_key}AAAA` },
    { ...other, session_key: "*" },
    { ...other, session_key: undefined },
    { ...other, sender_key: "nobody" },
    { ...other, sender_key: undefined },
    { ...other, padding: "x".repeat(100_000) },
  ];
  const content = JSON.stringify([...bad, good, good, ...rest]);
  const garbage = `[{"a" 1}, \u0000, tru, ${content.slice(1)}`;
  const report = await keyFilesOf(bob).import(await fileOf(garbage), IMPORT);
  assertEquals(report, { total: bad.length + 7, added: 3, improved: 0, known: 1, refused: bad.length + 3 });
  assertEquals(idsOf(await exported(bob)), idsOf([good, ...rest]));
  assert(!idsOf(await exported(bob)).includes(session_id));
});

Deno.test("KeyFiles takes an entry without a claimed key or a flag, and both names of the flag", async () => {
  const { bob } = await aliceAndBob();
  const entries = [
    { sender_claimed_keys: undefined },
    { sender_claimed_keys: { ed25519: 1 } },
    { sender_claimed_keys: { ed25519: "B".repeat(42) + "A" } }, // no point of the curve
    { shared_history: true },
    { "org.matrix.msc3061.shared_history": true },
    { shared_history: false, "org.matrix.msc3061.shared_history": true },
    { shared_history: "true" },
  ].flatMap((change) => newEntries(1, change));
  const report = await keyFilesOf(bob).import(await fileOf(entries), IMPORT);
  assertEquals(report, { ...none, total: 7, added: 7 });
  const byId = new Map((await exported(bob)).map((entry) => [entry.session_id, entry]));
  const found = entries.map(({ session_id }) => byId.get(session_id));
  const claimed = found.map((entry) => Object.keys(Object(entry?.sender_claimed_keys)).length);
  assertEquals(claimed, [0, 0, 0, 1, 1, 1, 1], "a file with what is no key is refused by other clients");
  assertEquals(found.map((entry) => entry?.shared_history), [false, false, false, true, true, false, false]);
});

Deno.test("KeyFiles keeps what was imported before an abort, ends with the signal's reason, and goes on another time", async () => {
  const { bob } = await aliceAndBob();
  const entries = newEntries(500);
  const file = await fileOf(entries);
  const stop = new AbortController();
  const onProgress = ({ added }: KeyImportProgress) => added === 400 && stop.abort("enough");
  const importing = keyFilesOf(bob).import(file, { ...IMPORT, signal: stop.signal, onProgress });
  assertEquals(await importing.catch((error) => error), "enough");
  assertEquals((await exported(bob)).length, 400);
  const report = await keyFilesOf(bob).import(file, IMPORT);
  assertEquals(report, { ...none, total: 500, added: 100, known: 400 });
});

Deno.test("KeyFiles ends an export with the signal's reason, and asks for no more once its stream is cancelled", async () => {
  const { bob } = await aliceAndBob();
  await keyFilesOf(bob).import(await fileOf(newEntries(500)), IMPORT);
  const stop = new AbortController();
  const onProgress = ({ sessions }: KeyExportProgress) => sessions === 400 && stop.abort("enough");
  const file = keyFilesOf(bob).export({ ...EXPORT, signal: stop.signal, onProgress });
  assertEquals(await new Response(file).text().catch((error) => error), "enough");
  let sessions = 0;
  const reader = keyFilesOf(bob).export({ ...EXPORT, onProgress: (each) => void (sessions = each.sessions) })
    .getReader();
  for (let part = 0; part < 3; part++) await reader.read();
  await reader.cancel();
  assertEquals(sessions, 200);
});

Deno.test("C25: an import that ends at any commit has done nothing or all of it, and the next brings the rest", async () => {
  const entries = newEntries(450);
  const file = await fileOf(entries);
  for (const when of ["before", "after"] as const) {
    for (let commits = 0; commits < 3; commits++) {
      const { alice, bob } = await aliceAndBob();
      const event = await alice.send("hello");
      const [key] = await exported(alice);
      assert(key);
      await bob.sync({ toDevice: [] });
      assertEquals(bob.outcome(event), "MISSING_KEY");
      const withKey = await fileOf([...entries.slice(0, 210), key, ...entries.slice(210)]);
      bob.failing = { when, commits };
      await assertRejects(() => keyFilesOf(bob).import(withKey, IMPORT), TypeError, "The disk is gone");
      await bob.restart();
      const kept = (await exported(bob)).length;
      assertEquals(kept, Math.min(200 * (commits + (when === "after" ? 1 : 0)), 451));
      const recovered: Parameters<typeof keyFilesOf>[1] = [];
      const report = await keyFilesOf(bob, recovered).import(withKey, IMPORT);
      assertEquals([report.added + report.known, report.known], [451, kept]);
      const { recovered: late } = await bob.sync();
      assertEquals([...recovered, ...late].map(({ event }) => event.content.body), ["hello"]);
      assertEquals(await keyFilesOf(bob).import(file, IMPORT), { ...none, total: 450, known: 450 });
    }
  }
});
