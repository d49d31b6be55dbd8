import { assertEquals } from "@std/assert";
import { printable } from "../../src/errors/matrix_error.ts";

Deno.test("Others' words are short in a message, and have no character that a terminal obeys or does not show", () => {
  assertEquals(printable("abcdef", 3), "abc");
  assertEquals(printable("x".repeat(1_000)).length, 500);
  const unshown = ["\x1b", "\u202e", "\u2028", "\u200b", "\u{e0041}", "\n", "\ud800"];
  assertEquals(unshown.map((each) => printable(`a${each}b`)), unshown.map(() => "a b"));
  assertEquals(printable("Grüße, 世界 🌳"), "Grüße, 世界 🌳");
});
