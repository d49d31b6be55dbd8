import { assertEquals } from "@std/assert";
import { SKEW, skewOf, timeOf, wrongBy } from "../../../src/api/http/mod.ts";
import { TestClock } from "@greenroom/matrix/testing";
import { scripted } from "../../support/scripted_fetch.ts";

const NOON = Date.UTC(2025, 0, 1, 12);

function response(headers: Record<string, string>): Response {
  return new Response(null, { headers });
}

Deno.test("A response says when it was made, unless a cache has kept it, or it says nothing that is a time", () => {
  const date = new Date(NOON).toUTCString();
  for (
    const [headers, expected] of [
      [{ date }, NOON],
      [{ date, age: "0" }, NOON],
      [{ date, age: "1" }, undefined],
      [{ date, age: "old" }, undefined],
      [{ date: "soon" }, undefined],
      [{}, undefined],
    ] as const
  ) assertEquals(timeOf(response(headers)), expected, JSON.stringify(headers));
});

Deno.test("The clocks are apart only by what neither the way of the answer nor its missing fraction explains", () => {
  for (
    const [shown, expected] of [
      [NOON, 0],
      [NOON - 1_000, 0], // made just before the next second
      [NOON - 1_001, -1_001],
      [NOON + 30_000, 0], // made at the end of the request
      [NOON + 30_001, 1],
    ] as const
  ) assertEquals(skewOf({ shown, before: NOON, after: NOON + 30_000 }), expected, String(shown - NOON));
});

Deno.test("A clock is wrong if it is more than a minute off", () => {
  assertEquals([60_000, -60_000, 0].map(wrongBy), [undefined, undefined, undefined]);
  assertEquals([3_600_000, -60_001].map(wrongBy), [
    "3600 seconds behind that of the server",
    "60 seconds ahead of that of the server",
  ]);
});

Deno.test("The homeserver's own answers say how its clock is, and no other server's, nor one that names no time", async () => {
  const date = new Date(NOON + 3_600_000).toUTCString();
  const to = (location: string) => new Response(null, { status: 307, headers: { location } });
  const dated = Response.json({}, { headers: { date } });
  const rules = {
    "GET /x": to("https://cdn.example.org/file"),
    "GET /file": dated,
    "GET /none": {},
    "GET /y": dated,
  };
  const { session: { http } } = scripted(rules, { clock: new TestClock(NOON) });
  const skews = [];
  for (const path of ["/x", "/none", "/y"]) {
    await http.request("GET", path);
    skews.push(http[SKEW]);
  }
  assertEquals(skews, [undefined, undefined, 3_600_000]);
});
