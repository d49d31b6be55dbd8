import { assertEquals } from "@std/assert";
import { inMilliseconds } from "../../src/base/clock.ts";

Deno.test("A duration is a number of milliseconds, or a text with units", () => {
  const read: [number | string, number][] = [
    [1_500, 1_500],
    ["90s", 90_000],
    ["1h30m", 5_400_000],
    ["2 days 1 hour", 176_400_000],
    ["1.5h", 5_400_000],
    ["", NaN],
    ["10", NaN],
    ["10mx", NaN],
    ["soon", NaN],
    ["9999w", NaN],
  ];
  assertEquals(read.map(([duration]) => inMilliseconds(duration)), read.map(([, ms]) => ms));
});
