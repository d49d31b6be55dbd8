/**
 * What a key file of many sessions takes: `deno run -A bench/parts/key_files.ts 100000`.
 *
 * Imports it into a SQLite file, exports it, and imports it again, each in a process of its own, and
 * prints how long that took and how much memory.
 *
 * @module
 */

import { Engine } from "../../src/crypto/engine/engine.ts";
import { DEFAULT_POLICY } from "../../src/crypto/context/context.ts";
import { writeKeyFile } from "../../src/crypto/key_files/key_files.ts";
import { SqliteStore } from "../../src/store/sqlite/sqlite.ts";
import { TestClock } from "../../src/testing/mod.ts";
import { silent } from "../../tests/crypto/engine/bot.ts";
import { keyFilesOf, newEntries, PASSPHRASE } from "../../tests/crypto/key_files/stage.ts";
import { memoryVault } from "../../tests/crypto/support/vault.ts";
import { EVERYBODY } from "../../tests/support/everybody.ts";

const PAGE = 500;
const [count = "100000", folder, step] = Deno.args;

/** Writes a file of new sessions, 100 rooms with as many each. */
async function make(path: string): Promise<void> {
  const content = async function* () {
    for (let done = 0; done < Number(count); done += PAGE) {
      const room_id = `!${done % (100 * PAGE)}:example.org`;
      yield (done === 0 ? "[" : ",") +
        newEntries(PAGE, { room_id }).map((entry) => JSON.stringify(entry)).join();
      await Promise.resolve();
    }
    yield "]";
  };
  const file = writeKeyFile(content(), { passphrase: PASSPHRASE, rounds: 100_000 });
  await Deno.writeFile(path, ReadableStream.from(file));
}

/** Imports the file, or exports all sessions. */
async function measure(path: string, work: string): Promise<void> {
  const store = await SqliteStore.open(`${path}.db`);
  const account = { userId: "@bench:example.org", deviceId: "BENCH" } as const;
  const vault = memoryVault(store);
  const engine = await Engine.open({
    account,
    vault,
    clock: new TestClock(),
    log: silent,
    policy: { ...DEFAULT_POLICY, ...EVERYBODY },
  });
  const files = keyFilesOf({ engine });
  const before = Deno.memoryUsage().rss;
  let peak = before;
  const onProgress = () => void (peak = Math.max(peak, Deno.memoryUsage().rss));
  const start = performance.now();
  if (work === "export") {
    const file = files.export({ passphrase: PASSPHRASE, rounds: 100_000, onProgress });
    await file.pipeTo(new WritableStream());
  } else {
    await files.import((await Deno.open(path)).readable, { passphrase: PASSPHRASE, onProgress });
  }
  const seconds = (performance.now() - start) / 1_000;
  const rate = Math.round(Number(count) / seconds);
  console.log(
    `${work}: ${seconds.toFixed(1)} s, ${rate} sessions/s, peak ${peak >> 20} MiB, ${
      before >> 20
    } MiB before`,
  );
  await engine.close();
  await store.close();
}

if (folder !== undefined && step !== undefined) {
  const path = `${folder}/keys.txt`;
  await (step === "make" ? make(path) : measure(path, step));
} else {
  const made = await Deno.makeTempDir();
  try {
    for (const each of ["make", "import", "export", "import"]) {
      const args = ["run", "-A", import.meta.filename ?? "", count, made, each];
      await new Deno.Command(Deno.execPath(), { args, stdout: "inherit", stderr: "inherit" }).output();
    }
  } finally {
    await Deno.remove(made, { recursive: true });
  }
}
