/**
 * T171: Who writes policy lists stops the bots that follow them: 8,000 rules take minutes to become a server
 * ACL, or to become too large for one, and rules of 60 KB fill the memory.
 *
 * Class of mistake: each of what others wrote is compared with each.
 */

import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import process from "node:process";
import { ValueError } from "@greenroom/matrix";
import { PolicyLists, serverAcl } from "@greenroom/matrix/bot";

const OWN = { ownServer: "example.org" };

function listsOf(...entities: string[]): PolicyLists {
  const lists = new PolicyLists();
  entities.forEach((entity, at) => {
    const content = { entity, recommendation: "m.ban", reason: "x".repeat(at === 0 ? 60_000 : 10) };
    lists.apply("!list:x", {
      type: "m.policy.rule.server",
      state_key: `${at}`,
      sender: "@mod:x",
      event_id: `$${at}`,
      content,
    });
  });
  return lists;
}

const many = (count: number, entity: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => entity(at));
/** Fits nothing, and has to be looked at to its end for that. */
const hostile = (at: number) => `*a*a*a*a*a*a*a*a*a*b${at}`;

Deno.test("T171: rules that fit into no server ACL are refused at once", () => {
  const lists = listsOf(...many(4_000, hostile), ...many(4_000, (at) => `${"a".repeat(230)}${at}`));
  const start = performance.now();
  assertThrows(() => serverAcl(lists, OWN), ValueError, "follow fewer lists");
  assert(performance.now() - start < 15_000); // some tens of milliseconds, and 148 seconds before
});

Deno.test("T171: globs that fit nothing are compared with a bounded number of names", () => {
  const names = many(20_000, (at) => `${"a".repeat(230)}${at}`);
  const lists = listsOf(...many(2_000, hostile), ...names);
  const start = performance.now();
  assertThrows(() => serverAcl(lists, OWN), ValueError, "follow fewer lists");
  assert(performance.now() - start < 15_000);
});

/** A step through what others wrote takes 25 ms of a slow processor; without its bounds, seconds. */
const LIMIT_MS = 250;

/** How long something keeps the processor, in milliseconds: the shortest of some runs. */
function takes(run: () => void): number {
  const times = many(5, () => "").map(() => {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...times);
}

const globsOf: Record<string, (at: number) => string> = {
  "seek letters": (at) => `*a*a*a*a*a*a*a*a*a*b${at}`,
  "seek few": (at) => `*a${at % 7}*`,
  "seek a long end": (at) => `*${"a".repeat(100 + at % 27)}b*`,
  "have many signs for one": (at) => `*${"?".repeat(80 + at % 20)}b${at}*`,
  "have a beginning": (at) => `${"a".repeat(at % 200)}*b${at}`,
  "have an end": (at) => `*b${"a".repeat(at % 200)}`,
  "have both": (at) => `${"a".repeat(at % 127)}*${"a".repeat(at % 126)}b${at % 7 === 0 ? "" : at}`,
};

for (const [what, glob] of Object.entries(globsOf)) {
  Deno.test(`T171: 100,000 globs that ${what} are compared with a name in a short step`, () => {
    const lists = listsOf(...many(100_000, glob));
    const time = takes(() => assertEquals(lists.matches("a".repeat(255)), undefined));
    assert(time < LIMIT_MS, `${time} ms`);
  });
}

Deno.test("T171: rules that seek are left out where there are too many, and taken again when others have gone", () => {
  const lists = listsOf(...many(5_000, (at) => `*a${at}*${"b".repeat(20)}`));
  const { size } = lists;
  assert(size > 500 && size < 5_000);
  const event = (entity: string) => ({
    ...{ type: "m.policy.rule.server", state_key: "new", sender: "@mod:x" as const },
    content: { entity, recommendation: "m.ban" },
  });
  assertFalse(lists.apply("!other:x", event(`*evil*${"c".repeat(40)}`)));
  assert(lists.apply("!other:x", event("*.evil.example")));
  lists.forget("!list:x");
  assert(lists.apply("!other:x", event("*evil*")));
  assertEquals(lists.matches("an.evil.server")?.entity, "*evil*");
});

Deno.test("T171: the names that common globs cover are left out, however many there are", () => {
  const lists = listsOf(
    "*.spam.example",
    "evil?.example",
    ...many(20_000, (at) => `a${at}.spam.example`),
    "evil1.example",
  );
  assertEquals(serverAcl(lists, OWN).content.deny, ["*.spam.example", "evil?.example"]);
});

Deno.test("T171: a rule that is too long for any name is none, and too long a reason is left out", () => {
  const lists = listsOf("a.example", `${"a".repeat(256)}*`, `${"a".repeat(254)}*`);
  assertEquals([...lists.rules()].map(({ entity, reason }) => [entity.length, reason?.length]), [
    [9, undefined],
    [255, 10],
  ]);
});
