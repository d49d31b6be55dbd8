import { assertEquals } from "@std/assert";
import type { KeyBackup, OpenSecretStorage } from "@greenroom/matrix/types";
import { clientStage } from "../../client/support/stage.ts";
import { type AbortOptions, assertAbortable } from "../../client/support/aborted.ts";
import { backupOf, withStorage } from "./scene.ts";

type Call = (backup: KeyBackup, storage: OpenSecretStorage, options: AbortOptions) => Promise<unknown>;

const CALLS: Record<string, Call> = {
  info: (backup, _storage, options) => backup.info(options),
  create: (backup, storage, options) => backup.create({ ...options, storage }),
  reset: (backup, storage, options) => backup.reset({ ...options, storage }),
  trust: (backup, storage, options) => backup.trust({ storage }, options),
  restore: (backup, _storage, options) => backup.restore(options),
  delete: (backup, storage, options) => backup.delete({ ...options, storage }),
};

Deno.test("A call of the backup ends at whatever request it is when it is aborted", async () => {
  for (const [name, call] of Object.entries(CALLS)) {
    await assertAbortable(name, async (here, fetch) => {
      const { client, storage } = await withStorage(here, { fetch });
      await client.crypto?.start();
      if (name !== "create") await backupOf(client).create({ storage });
      await client.crypto?.idle();
      return (options) => call(backupOf(client), storage, options);
    });
  }
});

Deno.test("A call that waits for another one ends at once when it is aborted", async () => {
  await using here = clientStage();
  const { client, storage } = await withStorage(here);
  let go = () => {};
  const onRecoveryKey = () => new Promise<void>((resolve) => go = resolve);
  const first = backupOf(client).create({ onRecoveryKey });
  const stop = new AbortController();
  const second = backupOf(client).trust({ storage }, { signal: stop.signal });
  await here.settle();
  stop.abort("enough");
  assertEquals(await second.catch((error) => error), "enough");
  go();
  await first;
});
