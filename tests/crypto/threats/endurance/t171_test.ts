/**
 * T171: Who writes policy lists stops the bots that follow them: 8,000 rules take minutes to become a server
 * ACL, or to become too large for one, and rules of 60 KB fill the memory.
 *
 * Class of mistake: each of what others wrote is compared with each.
 */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { ValueError } from "../../../../mod.ts";
import { PolicyLists, serverAcl } from "../../../../src/bot/mod.ts";

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
