import { assertEquals, assertStrictEquals } from "@std/assert";
import { DIFFERENCES, listedAs } from "../../bench/twin/differences.ts";

Deno.test("each difference between the homeservers that is listed has an example", () => {
  const bare = DIFFERENCES.filter(({ shownBy, recorded }) => shownBy === undefined && recorded === undefined);
  assertEquals(bare.map(({ reason }) => reason), []);
});

for (const difference of DIFFERENCES) {
  const { reason, recorded } = difference;
  if (recorded === undefined) continue;

  Deno.test(`listed as it was recorded, and no other: ${reason}`, () => {
    assertStrictEquals(listedAs(recorded), difference);
    const { step, theirs } = recorded;
    assertEquals(listedAs({ ...recorded, theirs: { ...theirs, status: 403 } }), undefined);
    assertEquals(listedAs({ ...recorded, theirs: { ...theirs, body: {} } }), undefined);
    assertEquals(listedAs({ ...recorded, step: { ...step, path: ["elsewhere"] } }), undefined);
  });
}
