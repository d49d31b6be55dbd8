import { assertEquals, assertRejects } from "@std/assert";
import { FairIndex } from "../../../src/crypto/records/fair_index.ts";
import { memoryVault, step } from "../support/vault.ts";

/** Puts things in, named by group and number; what had to go for them. */
function fill(index: FairIndex<number>, things: readonly string[]): Promise<string[]> {
  return step(memoryVault(), (tx) =>
    things.flatMap((thing) => {
      const [group = "", number = ""] = thing.split("/");
      return index.set(tx, [group, number, Number(number)]).map(([from, id]) => `${from}/${id}`);
    }));
}

Deno.test("a full fair index evicts the oldest of the largest group, wherever that stands", async () => {
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

Deno.test("a full fair index evicts from the first of several groups of the same size", async () => {
  assertEquals(await fill(new FairIndex<number>(4), ["a/1", "a/2", "b/1", "b/2", "c/1"]), ["a/1"]);
});

Deno.test("a fair index at its limit evicts nothing", async () => {
  const index = new FairIndex<number>(2);
  assertEquals(await fill(index, ["a/1", "a/2", "a/2"]), []);
  assertEquals([index.size, index.get("a", "1"), index.get("b", "1")], [2, 1, undefined]);
});

Deno.test("a group of a fair index, or a share of one, that was empty between counts as the last that came", async () => {
  const groups = new FairIndex<string>(2);
  const shares = new FairIndex<string>(2, (value) => value);
  await step(memoryVault(), (tx) => {
    for (const [group, id] of [["a", "1"], ["b", "1"]] as const) groups.set(tx, [group, id, ""]);
    groups.delete(tx, "a", "1");
    groups.set(tx, ["a", "2", ""]);
    assertEquals(groups.set(tx, ["c", "1", ""]), [["b", "1", ""]]);
    for (const [id, whose] of [["1", "alice"], ["2", "bob"]] as const) shares.set(tx, ["room", id, whose]);
    shares.delete(tx, "room", "1");
    shares.set(tx, ["room", "3", "alice"]);
    assertEquals(shares.set(tx, ["room", "4", "carol"]), [["room", "2", "bob"]]);
  });
});

Deno.test("a fair index that was emptied since takes nothing back of a step that comes to nothing", async () => {
  const index = new FairIndex<number>(10);
  const failing = step(memoryVault(), (tx) => {
    for (const group of ["a", "b"]) index.set(tx, [group, "1", 1]);
    index.clear();
    index.load("a", "2", 2);
    throw new RangeError("failed");
  });
  await assertRejects(() => failing, RangeError, "failed");
  assertEquals([index.size, ...index.values()], [1, 2]);
});
