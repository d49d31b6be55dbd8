import { assert, assertEquals } from "@std/assert";
import { playSlidingFields } from "../../../bench/fuzz/sliding_fields.ts";

/** How many changes are played of all; `deno task fuzz:fields --sliding` plays all. */
const COUNT = 60;

for (const spelling of ["synapse", "merged"] as const) {
  Deno.test(`A client hears the next answer of sliding sync, whatever is in any place of one: ${spelling}`, async () => {
    const { all, played, fault } = await playSlidingFields(spelling, { count: COUNT });
    assertEquals(fault, undefined);
    const total = [...played.values()].reduce((sum, count) => sum + count, 0);
    assert(all > 3_000 && total >= COUNT - 1, `${total} of ${all}`);
  });
}
