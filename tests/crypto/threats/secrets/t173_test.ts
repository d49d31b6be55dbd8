/**
 * T173: Another user of the machine reads the files of a store, its log or a recovery key.
 *
 * Class of mistake: a file gets the mode that the system gives to all.
 */

import { assert, assertEquals } from "@std/assert";
import { type Logger, MemoryStore, SealedStore, type Store } from "@greenroom/matrix";
import { optionsFromEnv } from "../../../../src/bot/env.ts";
import { Lease } from "../../../../src/store/device/mod.ts";
import { KvStore } from "@greenroom/matrix/store/kv";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";

const ignore = Deno.build.os === "windows";
const OPEN = { deno_kv: KvStore.open, sqlite: SqliteStore.open };
const OTHERS = 0o077;

/** What others may use in a folder. */
function wideIn(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => [
    ...((Deno.statSync(`${folder}/${name}`).mode ?? 0) & OTHERS) === 0 ? [] : [name],
    ...isDirectory ? wideIn(`${folder}/${name}`) : [],
  ]);
}

async function inFolder(action: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await action(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function warningsOf(): { readonly log: Logger; readonly warnings: string[] } {
  const [warnings, none] = [[] as string[], () => {}];
  return {
    warnings,
    log: { debug: none, info: none, warn: (text) => void warnings.push(text), error: none },
  };
}

/** Takes a device and writes to it. */
async function use(kv: Store, log: Logger): Promise<void> {
  const lease = await Lease.acquire(kv, ["device"], { log });
  await kv.commit([{ type: "set", key: ["device", "secret"], value: "a key" }]);
  await lease.release([]);
}

for (const [name, open] of Object.entries(OPEN)) {
  Deno.test({
    name:
      `T173: nobody else may read what ${name} writes: the file, its log, its index, locks, sealed or not`,
    ignore,
    fn: () =>
      inFolder(async (folder) => {
        const { log, warnings } = warningsOf();
        await using kv = await open(`${folder}/bot.db`);
        await use(kv, log);
        await using other = await open(`${folder}/sealed.db`);
        await use(await SealedStore.open(other, crypto.getRandomValues(new Uint8Array(32))), log);
        assert([...Deno.readDirSync(folder)].length >= 4, "there is a log");
        assertEquals(wideIn(folder), []);
        assertEquals(warnings, []);
      }),
  });

  Deno.test({
    name: `T173: files of ${name} that are wider are used, and warned of once`,
    ignore,
    fn: () =>
      inFolder(async (folder) => {
        const path = `${folder}/bot.db`;
        await (await open(path)).close();
        Deno.chmodSync(path, 0o644);
        const { log, warnings } = warningsOf();
        await using kv = await open(path);
        await use(kv, log);
        await use(kv, log);
        assertEquals(warnings.length, 1);
        assert(warnings[0]?.includes(path) && warnings[0].includes("chmod go= "), warnings[0]);
        assertEquals((Deno.statSync(path).mode ?? 0) & 0o777, 0o644);
      }),
  });
}

for (const variable of ["MATRIX_RECOVERY_KEY_FILE", "MATRIX_STORE_KEY_FILE"]) {
  Deno.test({
    name: `T173: a file with a key, of ${variable}, that others may read is warned of`,
    ignore,
    fn: () =>
      inFolder((folder) => {
        const path = `${folder}/key`;
        const env: Record<string, string> = {
          MATRIX_URL: "https://matrix.example.org",
          MATRIX_TOKEN: "t",
          MATRIX_STORE: `${folder}/bot.db`,
          [variable]: path,
        };
        const warningsAt = (mode: number) => {
          Deno.writeTextFileSync(path, "EsT0");
          Deno.chmodSync(path, mode);
          const { log, warnings } = warningsOf();
          optionsFromEnv((name) => env[name], { log, store: new MemoryStore() });
          return warnings.map((text) => text.includes(path));
        };
        assertEquals([warningsAt(0o600), warningsAt(0o640), warningsAt(0o604)], [[], [true], [true]]);
        return Promise.resolve();
      }),
  });
}
