/** How an engine is opened. */

import { assert, assertEquals } from "@std/assert";
import { Engine } from "../../../src/crypto/engine/engine.ts";
import { DEFAULT_POLICY } from "../../../src/crypto/context/context.ts";
import type { Vault } from "../../../src/crypto/records/mod.ts";
import { TestClock } from "../../../src/testing/mod.ts";
import { MemoryStore } from "../../../src/store/base/mod.ts";
import { memoryVault } from "../support/vault.ts";
import { silent } from "./bot.ts";

Deno.test("an engine is opened with a few rounds of reads, since a store may be behind a network", async () => {
  const store = new MemoryStore();
  const options = {
    account: { userId: "@alice:example.org", deviceId: "A" },
    clock: new TestClock(),
  } as const;
  const open = (vault: Vault) => Engine.open({ ...options, vault, log: silent, policy: DEFAULT_POLICY });
  await (await open(memoryVault(store))).close();

  let [reads, rounds] = [0, 0];
  let round: Promise<void> | undefined;
  /** All reads that come until the round is over are answered together. */
  const answered = async <Read>(read: () => Promise<Read>): Promise<Read> => {
    reads++;
    round ??= new Promise((resolve) => {
      rounds++;
      setImmediate(() => (round = undefined, resolve()));
    });
    await round;
    return await read();
  };
  const vault = memoryVault(store);
  const engine = await open({
    ...vault,
    getMany: (keys) => answered(() => vault.getMany(keys)),
    list: (prefix, options) => answered(() => vault.list(prefix, options)),
  });
  assert(reads > 20, `${reads}`);
  assertEquals(rounds, 3); // the account; all else; what depends on that
  await engine.close();
});
