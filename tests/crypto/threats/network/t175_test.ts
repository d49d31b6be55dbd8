/**
 * T175: A name or an error of a server turns the direction of what stands behind it in a log or terminal, or
 * hides in it what is not shown: bidirectional controls, tags, separators.
 *
 * Class of mistake: only control characters of ASCII count as those that a terminal obeys.
 */

import { assertEquals } from "@std/assert";
import { consoleLogger } from "@greenroom/matrix";
import { printable } from "../../../../src/errors/matrix_error.ts";

const HOSTILE = [
  ...["\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069"],
  ...["\u200e", "\u200f", "\u061c", "\u2028", "\u2029", "\u200b", "\ufeff", "\u00ad", "\x1b", "\x9b"],
  ...["\u{e0001}", "\u{e0041}", "\u{e007f}", "\u{e0100}", "\ud800"],
];

Deno.test("T175: what others wrote is shown without characters that are obeyed, or not shown", () => {
  for (const one of HOSTILE) assertEquals(printable(`a${one}b`), "a b", escape(one));
  const shown = "Zoë 日本語 שלום 🎭 €";
  assertEquals(printable(shown), shown);
});

for (const format of ["text", "json"] as const) {
  Deno.test(`T175: a log in ${format} shows none of them, in no field`, () => {
    const lines: string[] = [];
    const original = console.warn;
    console.warn = (line: string) => void lines.push(line);
    try {
      const text = `@eve${HOSTILE.join("x")}:example.org`;
      consoleLogger({ format }).warn("Refused", { user: text, error: new Error(text), list: [text] });
      if (format === "json") {
        assertEquals(JSON.parse(lines[0] ?? "").user, text.toWellFormed().replace("\ufffd", "\ud800"));
      }
    } finally {
      console.warn = original;
    }
    assertEquals(lines.length, 1);
    assertEquals(HOSTILE.filter((one) => lines[0]?.includes(one)).map(escape), []);
  });
}
