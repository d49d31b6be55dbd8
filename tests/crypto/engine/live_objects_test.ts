import { assert, assertEquals } from "@std/assert";
import { LiveObjects } from "../../../src/crypto/records/mod.ts";
import { memoryVault, step } from "../support/vault.ts";

/** Objects that say whether they have been let go of. */
class Stage {
  readonly vault = memoryVault();
  readonly live: LiveObjects<Disposable>;
  readonly gone = new Set<string>();
  made = 0;

  constructor(limit: number) {
    this.live = new LiveObjects(limit);
  }

  make(id: string): Disposable {
    this.made++;
    this.gone.delete(id);
    return { [Symbol.dispose]: () => void this.gone.add(id) };
  }

  /** Uses objects, each in a step of its own. */
  async use(...ids: string[]): Promise<void> {
    for (const id of ids) await step(this.vault, (tx) => this.live.get(tx, id, () => this.make(id)));
  }
}

const ids = (count: number): string[] => Array.from({ length: count }, (_, index) => `object ${index}`);

Deno.test("a live object is made once, and used again", async () => {
  const stage = new Stage(4);
  await stage.use("a", "b", "a", "b", "a");
  assertEquals(stage.made, 2);
  assertEquals(stage.live.size, 2);
});

Deno.test("live objects never exceed their limit between steps, and those that are evicted are freed", async () => {
  for (const limit of [1, 2, 3, 32, 100]) {
    const stage = new Stage(limit);
    for (const id of ids(250)) {
      await stage.use(id);
      assert(stage.live.size <= limit, `${stage.live.size} of ${limit}`);
      assertEquals(stage.gone.size, stage.made - stage.live.size);
    }
  }
});

Deno.test("the objects that were used last stay", async () => {
  const stage = new Stage(32);
  const all = ids(200);
  await stage.use(...all);
  for (const id of all.slice(-32)) assert(!stage.gone.has(id), id);
});

Deno.test("an object that is used again and again stays, however many others come", async () => {
  const stage = new Stage(32);
  await stage.use("used");
  for (const id of ids(500)) {
    await stage.use(id, "used");
    assert(!stage.gone.has("used"), id);
  }
  assertEquals(stage.made, 501);
});

Deno.test("a step may need more objects than there may be between steps", async () => {
  const stage = new Stage(8);
  await step(stage.vault, (tx) => {
    for (const id of ids(40)) stage.live.get(tx, id, () => stage.make(id));
    assertEquals(stage.gone.size, 0);
  });
  assert(stage.live.size <= 8);
});

Deno.test("an object that a failed step has changed goes; one that it has only used stays", async () => {
  const stage = new Stage(8);
  await stage.use("used", "changed");
  await step(stage.vault, (tx) => {
    stage.live.get(tx, "used", () => stage.make("used"));
    stage.live.get(tx, "changed", () => stage.make("changed"));
    stage.live.changing(tx, "changed");
    stage.live.add(tx, "added", stage.make("added"));
    throw new RangeError("failed");
  }).catch(() => {});
  assertEquals([...stage.gone].sort(), ["added", "changed"]);
  assertEquals(stage.live.size, 1);
});
