import { assertEquals } from "@std/assert";
import { FairIndex } from "../../../src/crypto/fair_index.ts";
import { memoryVault, step } from "../support/vault.ts";

/** Puts things in, named by group and number; what had to go for them. */
function fill(index: FairIndex<number>, things: readonly string[]): Promise<string[]> {
  return step(memoryVault(), (tx) =>
    things.flatMap((thing) => {
      const [group = "", number = ""] = thing.split("/");
      return index.set(tx, [group, number, Number(number)]).map(([from, id]) => `${from}/${id}`);
    }));
}

Deno.test("a full fair index lets go of the oldest of the largest group, wherever that stands", async () => {
  for (
    const order of [["a/1", "flood/1", "flood/2", "z/1"], ["flood/1", "flood/2", "a/1", "z/1"], [
      "a/1",
      "z/1",
      "flood/1",
      "flood/2",
    ]]
  ) {
    const index = new FairIndex<number>(4);
    assertEquals(await fill(index, [...order, "flood/3", "new/1"]), ["flood/1", "flood/2"]);
    assertEquals(index.size, 4);
  }
});

Deno.test("of groups of the same size in a full fair index the one that came first gives way", async () => {
  assertEquals(await fill(new FairIndex<number>(4), ["a/1", "a/2", "b/1", "b/2", "c/1"]), ["a/1"]);
});

Deno.test("a fair index that holds as much as it may lets go of nothing", async () => {
  const index = new FairIndex<number>(2);
  assertEquals(await fill(index, ["a/1", "a/2", "a/2"]), []);
  assertEquals([index.size, index.get("a", "1"), index.get("b", "1")], [2, 1, undefined]);
});
