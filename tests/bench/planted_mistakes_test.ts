import { assertEquals } from "@std/assert";
import { BUGS } from "../../bench/simulation/bugs.ts";

Deno.test("Each mistake for the simulator fits the sources", async () => {
  const root = new URL("../../", import.meta.url);
  for (const { name, path, find } of BUGS) {
    const text = await Deno.readTextFile(new URL(path, root));
    assertEquals(text.split(find).length - 1, 1, `${name}: its text stands once in ${path}`);
  }
});
