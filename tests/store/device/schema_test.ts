import { assert, assertEquals, assertRejects } from "@std/assert";
import { StoreError, StoreFormatError } from "@greenroom/matrix/errors";
import type { StoreEntry, StoreKey } from "@greenroom/matrix";
import { Lease } from "../../../src/store/device/mod.ts";
import { MemoryStore } from "../../../src/store/base/mod.ts";
import {
  readSchema,
  SCHEMA_VERSION,
  type SchemaStep,
  schemaUpgrade,
} from "../../../src/store/device/schema.ts";
import { TestClock } from "@greenroom/matrix/testing";

const DEVICE: StoreKey = ["@a:a", "D"];

async function kept(records: Record<string, unknown>): Promise<MemoryStore> {
  const kv = new MemoryStore();
  const all = Object.entries(records).map(([key, value]) =>
    ({ type: "set", key: [...DEVICE, ...key.split("/")], value }) as const
  );
  await kv.commit(all);
  return kv;
}

async function allOf(kv: MemoryStore): Promise<StoreEntry[]> {
  return await Array.fromAsync(kv.list([]));
}

async function valuesOf(kv: MemoryStore): Promise<Record<string, unknown>> {
  return Object.fromEntries(
    (await allOf(kv)).map(({ key, value }) => [key.slice(DEVICE.length).join("/"), value]),
  );
}

/** What each process does that opens a device. */
async function open(kv: MemoryStore, steps: readonly SchemaStep[], clock = new TestClock()): Promise<Lease> {
  const lease = await Lease.acquire(kv, DEVICE, { clock });
  const { mutations, isNeeded } = await schemaUpgrade(kv, DEVICE, steps);
  if (isNeeded) assert(await kv.commit(mutations, lease.checks));
  return lease;
}

/** Steps that are easy to tell apart: one counts up what is below `n`, the next moves it to `m`. */
const STEPS: SchemaStep[] = [
  async (records) => {
    for await (const { key, value } of records.list(["n"])) records.set(key, Number(value) + 1);
  },
  async (records) => {
    for await (const { key, value } of records.list(["n"])) {
      records.delete(key);
      records.set(["m", ...key.slice(1)], Number(value) * 10);
    }
  },
];

Deno.test("A place without records takes the newest version with whatever is written first", async () => {
  const kv = new MemoryStore();
  const stamp = {
    type: "set",
    key: [...DEVICE, "schema"],
    value: { format: SCHEMA_VERSION },
  } as const;
  assertEquals(await schemaUpgrade(kv, DEVICE), { mutations: [stamp], isNeeded: false });
  await Lease.acquire(kv, DEVICE, { clock: new TestClock() });
  assertEquals(await schemaUpgrade(kv, DEVICE), { mutations: [stamp], isNeeded: false });
  assertEquals(Object.keys(await valuesOf(kv)), ["lease", "owner"]);
});

Deno.test("Records of the newest version are left as they are", async () => {
  const kv = await kept({ schema: { format: 3 }, "n/a": 1 });
  const before = await allOf(kv);
  assertEquals(await schemaUpgrade(kv, DEVICE, STEPS), { mutations: [], isNeeded: false });
  assertEquals(await allOf(kv), before);
});

Deno.test("Records of the first version go through each step, which builds on what the one before has made", async () => {
  const kv = await kept({ schema: { format: 1 }, "n/a": 1, "n/b": 2, "other": "x" });
  await open(kv, STEPS);
  const { owner: _, lease: __, ...values } = await valuesOf(kv);
  assertEquals(values, { "m/a": 20, "m/b": 30, other: "x", schema: { format: 3 } });
});

Deno.test("Records of a version in between go through the later steps only", async () => {
  const kv = await kept({ schema: { format: 2 }, "n/a": 1 });
  await open(kv, STEPS);
  assertEquals((await valuesOf(kv))["m/a"], 10);
});

Deno.test("An upgrade is one commit; a process that ends before it leaves the old records whole", async () => {
  const kv = await kept({ schema: { format: 1 }, "n/a": 1, "n/b": 2 });
  const before = await allOf(kv);
  const { mutations } = await schemaUpgrade(kv, DEVICE, STEPS); // and there it ends
  assertEquals(await allOf(kv), before);
  await kv.commit(mutations);
  const stamps = new Set((await allOf(kv)).map(({ versionstamp }) => versionstamp));
  assertEquals(stamps.size, 1);
});

Deno.test("An upgrade that another has made in the meantime is not made again", async () => {
  const kv = await kept({ schema: { format: 1 }, "n/a": 1 });
  const clock = new TestClock();
  const one = await Lease.acquire(kv, DEVICE, { clock, owner: "one" });
  const stale = await schemaUpgrade(kv, DEVICE, STEPS);
  const openers = [1, 2, 3].map(() => open(kv, STEPS, clock).then((lease) => lease.release()));
  await clock.tick(15_000); // the first is paused
  assertEquals([await kv.commit(stale.mutations, one.checks)], [false]);
  await clock.tick(15_000);
  await Promise.all(openers);
  assertEquals((await valuesOf(kv))["m/a"], 20);
});

Deno.test("Records of a version that is not known are refused untouched", async () => {
  for (const schema of [{ format: 4 }, { format: 0 }, { format: "2" }, { format: 1.5 }, "2", null]) {
    const kv = await kept({ schema, "n/a": 1 });
    const before = await allOf(kv);
    await assertRejects(() => schemaUpgrade(kv, DEVICE, STEPS), StoreFormatError, "@a:a D");
    await assertRejects(() => readSchema(kv, DEVICE, 3), StoreFormatError);
    assertEquals(await allOf(kv), before);
  }
});

Deno.test("A device whose import did not finish is refused until it is imported once more", async () => {
  const kv = await kept({ schema: { format: 3 }, importing: { from: "x" } });
  await assertRejects(() => readSchema(kv, DEVICE, 3), StoreError, "import it once more");
  await assertRejects(() => schemaUpgrade(kv, DEVICE, STEPS), StoreError, "import it once more");
});

Deno.test("A step sees the records as they were when it began to read, whatever it does meanwhile", async () => {
  const kv = await kept({ schema: { format: 1 }, "n/a": 1, "n/b": 1, "nn/a": 1 });
  const seen: string[] = [];
  const step: SchemaStep = async (records) => {
    for await (const { key } of records.list(["n"])) {
      seen.push(key.join("/"));
      records.set(["n", `${key[1]}+`], 2);
      records.set(key, 3);
    }
    records.delete(["n", "a"]);
    for await (const { key, value } of records.list(["n"])) seen.push(`${key.join("/")}=${value}`);
  };
  await schemaUpgrade(kv, DEVICE, [step]);
  assertEquals(seen.toSorted(), ["n/a", "n/a+=2", "n/b", "n/b+=2", "n/b=3"]);
});

Deno.test("Records of a Greenroom before 0.1.0 are refused untouched, and the error says what to do", async () => {
  for (const schema of [{ version: 1 }, { version: 2 }, undefined]) {
    const kv = await kept({ ...(schema && { schema }), "room/!a": { membership: "leave" } });
    const before = await allOf(kv);
    const mend = "a Greenroom before 0.1.0 has written it; delete it, and log in anew";
    await assertRejects(() => schemaUpgrade(kv, DEVICE), StoreFormatError, mend);
    if (schema) await assertRejects(() => readSchema(kv, DEVICE), StoreFormatError, mend);
    assertEquals(await allOf(kv), before);
  }
});
