import { assert, assertEquals } from "@std/assert";
import type { UserID } from "@greenroom/matrix/types";
import { DeviceOwners } from "../../../src/crypto/devices/mod.ts";
import type { Transaction } from "../../../src/crypto/records/mod.ts";

const MALLORY: UserID = "@mallory:evil.example";

Deno.test("DeviceOwners does not grow with the devices that a user changes without end", async () => {
  let version = 0;
  let lists = 0;
  const record = () => ({
    devices: Array.from({ length: 500 }, (_, at) => ({ ed25519: `${version} ${at}` })),
    gone: [],
  });
  const tx = {
    list() {
      lists++;
      return Promise.resolve([[[MALLORY], record()]]);
    },
    getMany: () => Promise.resolve([record()]),
  } as unknown as Transaction;
  const owners = new DeviceOwners({
    get version() {
      return version;
    },
    since: () => new Set([MALLORY]),
  });
  assertEquals(await owners.ownerOf(tx, "0 0"), MALLORY);
  version++;
  assertEquals(
    [await owners.ownerOf(tx, "0 0"), lists],
    [MALLORY, 1],
    "former devices are known for a while",
  );
  for (; version < 100; version++) assertEquals(await owners.ownerOf(tx, `${version} 499`), MALLORY);
  assertEquals(await owners.ownerOf(tx, "0 0"), undefined);
  assert(lists > 3, "all records were read anew");
});
