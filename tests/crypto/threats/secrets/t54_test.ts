/**
 * A key file that somebody has changed, cut off, or made to cost a lot, by the one who gives it to the
 * user, or has the disk that it is on. Nothing of it counts before all of it was proven to be of who
 * knows the passphrase, what it makes this process compute and hold is bounded, and neither errors nor
 * logs show a key or the passphrase.
 *
 * Class of mistake: what is decrypted is used before it is authenticated;
 * numbers from a file are taken as they are.
 */

import { assert, assertEquals, assertFalse, assertRejects } from "@std/assert";
import { KeyFileError } from "@greenroom/matrix/errors";
import { aliceAndBob } from "../../engine/bot.ts";
import { fileOf, keyFilesOf, newEntries, PASSPHRASE } from "../../key_files/stage.ts";
import { withShortKeys } from "../../support/vault.ts";

/** An engine, a file with keys for it, and what its store holds. */
async function stage() {
  const lines: unknown[] = [];
  const note = (...line: unknown[]) => void lines.push(line);
  const { bob } = await aliceAndBob({ log: { debug: note, info: note, warn: note, error: note } });
  const entries = newEntries(3);
  const records = async () => (await Array.fromAsync(bob.store.list([]))).length;
  const tryToImport = (file: string | Uint8Array) => keyFilesOf(bob).import(file, { passphrase: PASSPHRASE });
  return { bob, entries, lines, records, tryToImport };
}

Deno.test("T54: of a file that was changed at any place nothing is imported", async () => {
  const { entries, records, tryToImport } = await stage();
  const bytes = new TextEncoder().encode(await fileOf(entries));
  const before = await records();
  for (let at = 40; at < bytes.length - 40; at += 97) {
    const changed = bytes.slice();
    changed[at] = changed[at] === 65 ? 66 : 65; // A, B
    await assertRejects(() => tryToImport(changed), KeyFileError);
  }
  for (let length = 0; length < bytes.length - 2; length += 211) {
    await assertRejects(() => tryToImport(bytes.subarray(0, length)), KeyFileError);
  }
  assertEquals(await records(), before);
});

Deno.test("T54: a file that wants more rounds than are bearable is refused before one is computed", async () => {
  const { tryToImport } = await stage();
  const head = Uint8Array.of(1, ...new Uint8Array(32), 0xff, 0xff, 0xff, 0xff, ...new Uint8Array(64));
  const file = `-----BEGIN MEGOLM SESSION DATA-----\n${head.toBase64()}\n-----END MEGOLM SESSION DATA-----`;
  const error = await assertRejects(() => tryToImport(file), KeyFileError, "it wants 4294967295 rounds");
  assertEquals(error.problem, "format");
});

Deno.test("T54: entries that are deep, long or without end cost what good ones do, and those are taken", async () => {
  const { entries, tryToImport } = await stage();
  const good = entries.map((entry) => JSON.stringify(entry));
  const bad = [
    "[".repeat(500_000) + "]".repeat(500_000),
    `"${"x".repeat(1_000_000)}"`,
    '{"a":'.repeat(9) + "1" + "}".repeat(9),
  ];
  const report = await tryToImport(await fileOf(`[${[...bad, ...good].join()},${"0,".repeat(50_000)}0]`));
  assertEquals([report.added, report.refused], [3, 50_004]);
  await assertRejects(
    () => fileOf('[{"a":1},').then(tryToImport),
    KeyFileError,
    "its content is no list of keys",
  );
});

Deno.test("T54: entries with names that no store takes are refused, and those beside them taken", async () => {
  const { bob, entries, tryToImport } = await stage();
  withShortKeys(bob.store);
  const [first] = entries;
  const name = "x".repeat(10_000);
  const file = await fileOf([{ ...first, session_id: name }, { ...first, room_id: `!${name}` }, ...entries]);
  const report = await tryToImport(file);
  assertEquals([report.added, report.refused], [3, 2]);
});

Deno.test("T54: no key and no passphrase is in an error or a line of the log", async () => {
  const { entries, lines, tryToImport } = await stage();
  const [first, second, third] = entries;
  assert(first && second && third);
  const spoiled = [
    { ...first, session_key: `${first.session_key}AAAA` },
    { ...second, session_id: first.session_id },
    { ...third, sender_key: third.session_key },
  ];
  const file = await fileOf(spoiled);
  const report = await tryToImport(file);
  assertEquals(report.refused, 3);
  const error = await tryToImport(file.replace("\n", "\nAAAA")).catch((error) => error);
  assert(error instanceof KeyFileError);
  const shown = Deno.inspect([lines, error, error.stack], { depth: 20, strAbbreviateSize: 1e6 });
  assert(shown.includes("Refused imported keys"));
  for (const secret of [PASSPHRASE, ...entries.map(({ session_key }) => session_key.slice(8, 60))]) {
    assertFalse(shown.includes(secret), secret);
  }
});
