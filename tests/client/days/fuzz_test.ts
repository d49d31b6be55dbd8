import { assertEquals } from "@std/assert";
import { play } from "../../../bench/fuzz/play.ts";
import type { FuzzStore } from "../../../bench/fuzz/store_kinds.ts";

/** Enough for a client to be closed and made anew; `deno task fuzz` goes on from there. */
const COUNT = 300;

for (const store of ["memory", "kv", "sqlite", "sealed"] satisfies FuzzStore[]) {
  Deno.test(`whatever sync responses and answers say, the client lives and hears the next message: ${store}`, async () => {
    const { fault, lives } = await play({ store, seed: 15, count: COUNT });
    assertEquals(fault?.reasons, undefined);
    assertEquals(lives, 2);
  });
}
