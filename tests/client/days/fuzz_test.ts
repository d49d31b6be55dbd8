import { assertEquals } from "@std/assert";
import { play } from "../../../bench/fuzz/play.ts";
import type { FuzzStore } from "../../../bench/fuzz/store_kinds.ts";

/** Enough for one client to be closed and another made; `deno task fuzz` makes more. */
const COUNT = 300;

for (const store of ["memory", "kv", "sqlite", "sealed"] satisfies FuzzStore[]) {
  Deno.test(`whatever sync responses and answers contain, the client receives the next message: ${store}`, async () => {
    const { fault, clients } = await play({ store, seed: 15, count: COUNT });
    assertEquals(fault?.reasons, undefined);
    assertEquals(clients, 2);
  });
}
