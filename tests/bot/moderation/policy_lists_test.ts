import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { ValueError } from "@greenroom/matrix";
import type { EventID } from "../../../types.ts";
import { POLICY_RULE_TYPES, type PolicyEvent, PolicyLists, readGlob, serverAcl } from "@greenroom/matrix/bot";
import { took } from "../text/took.ts";

const LIST = "!list:a.b";
let keys = 0;

function rule(type: string, entity: unknown, more = {}, state_key = `${keys++}`): PolicyEvent {
  const content = { entity, recommendation: "m.ban", reason: "spam", ...more };
  return { type, state_key, sender: "@mod:a.b", content };
}

function listsOf(...events: PolicyEvent[]): PolicyLists {
  const lists = new PolicyLists();
  for (const event of events) lists.apply(LIST, event);
  return lists;
}

const user = (entity: unknown, more = {}) => rule("m.policy.rule.user", entity, more);
const server = (entity: unknown, more = {}) => rule("m.policy.rule.server", entity, more);

Deno.test("readGlob() matches as the specification says", () => {
  for (
    const [pattern, text, matches] of [
      ["*", "", true],
      ["*", "anything", true],
      ["a?c", "abc", true],
      ["a?c", "ac", false],
      ["a?c", "a😀c", true],
      ["a*c", "ac", true],
      ["a*b*c", "a-b-b-c", true],
      ["a*b*c", "a-c-b", false],
      ["**a**", "bab", true],
      ["a.c", "abc", false],
      ["@*:[x]", "@y:[x]", true],
      ["a", "A", false],
      ["a*", "ba", false],
      ["*a?", "aab", true],
    ] as const
  ) assertEquals(readGlob(pattern).matches(text), matches, `${pattern} ${text}`);
});

Deno.test("readGlob() matches what a regular expression does", () => {
  const of = (...letters: string[]) =>
    fc.array(fc.constantFrom(...letters), { maxLength: 12 }).map((all) => all.join(""));
  fc.assert(fc.property(of("a", "b", "*", "?"), of("a", "b"), (pattern, text) => {
    const expression = new RegExp(`^${pattern.replaceAll("*", ".*").replaceAll("?", ".")}$`);
    assertEquals(readGlob(pattern).matches(text), expression.test(text), `${pattern} ${text}`);
  }));
});

Deno.test("readGlob() takes no time for hostile patterns", () => {
  const patterns = ["*a".repeat(20_000), `${"*a".repeat(127)}*b`, `${"*".repeat(60_000)}b`, "?*".repeat(120)];
  for (const pattern of patterns) {
    const glob = readGlob(pattern);
    took(1_000, pattern, () => {
      for (let round = 0; round < 1_000; round++) glob.matches("a".repeat(255));
    });
  }
});

Deno.test("PolicyLists matches users by rules for users and for their servers", () => {
  const lists = listsOf(user("@eve:a.b"), user("@spam*:*"), server("*.evil.example"), server("Evil.Example"));
  const banned = (entity: string) => lists.matches(entity)?.entity;
  assertEquals(banned("@eve:a.b"), "@eve:a.b");
  assertEquals(banned("@EVE:a.b"), undefined);
  assertEquals(banned("@spammer:c.d"), "@spam*:*");
  assertEquals(banned("@bob:x.evil.example"), "*.evil.example");
  assertEquals(banned("@bob:evil.example"), "Evil.Example");
  assertEquals(banned("@bob:EVIL.example:8448"), "Evil.Example");
  assertEquals(banned("evil.example"), "Evil.Example");
  assertEquals(banned("@bob:a.b"), undefined);
});

Deno.test("PolicyLists takes the port off the names of servers alone", () => {
  const lists = listsOf(user("@eve:a.b"), server("c.d"));
  assertEquals(lists.matches("@eve:a.b:8448"), undefined);
  assertEquals(lists.matches("@eve:c.d:8448")?.entity, "c.d");
});

Deno.test("PolicyLists takes no rule without a state key or an entity, and none whose names are too long", () => {
  const rules = (...events: PolicyEvent[]) => [...listsOf(...events).rules()];
  assertEquals(rules({ ...user("@eve:a.b"), state_key: undefined }), []);
  assertEquals(
    rules(user(""), user("a".repeat(256)), user("@eve:a.b", { recommendation: "r".repeat(256) })),
    [],
  );
  assertEquals(rules(user("a".repeat(255), { recommendation: "r".repeat(255) })).length, 1);
});

Deno.test("PolicyLists leaves out a reason that is too long", () => {
  const reasonOf = (length: number) =>
    [...listsOf(user("@eve:a.b", { reason: "r".repeat(length) })).rules()].map(({ reason }) =>
      reason?.length
    );
  assertEquals([reasonOf(1_000), reasonOf(1_001)], [[1_000], [undefined]]);
});

Deno.test("PolicyLists ends no rule whose event it does not know", () => {
  const lists = listsOf(user("@eve:a.b"));
  assertEquals([...lists.rules()].map((rule) => "eventId" in rule), [false]);
  const redaction = (redacts?: string) =>
    lists.apply(LIST, { type: "m.room.redaction", sender: "@mod:a.b", content: {}, redacts } as PolicyEvent);
  assertEquals([redaction(), redaction("undefined")], [false, false]);
  assertEquals(lists.matches("@eve:a.b")?.entity, "@eve:a.b");
});

Deno.test("PolicyLists matches rooms and aliases by rules for rooms alone", () => {
  const lists = listsOf(
    rule("m.policy.rule.room", "#*:evil.example"),
    rule("m.policy.rule.room", "!r"),
    server("*"),
  );
  assertEquals(lists.matches("#a:evil.example")?.kind, "room");
  assertEquals(lists.matches("!r")?.kind, "room");
  assertEquals(lists.matches("!s:evil.example"), undefined);
});

Deno.test("PolicyLists reads the types and bans of before the specification", () => {
  for (const type of POLICY_RULE_TYPES) {
    assertEquals(listsOf(rule(type, "*", { recommendation: "org.matrix.mjolnir.ban" })).size, 1, type);
  }
  const lists = listsOf(
    rule("org.matrix.mjolnir.rule.user", "@eve:a.b", { recommendation: "org.matrix.mjolnir.ban" }),
  );
  assertEquals(lists.matches("@eve:a.b")?.recommendation, "m.ban");
});

Deno.test("PolicyLists bans for no other recommendation, but tells of it", () => {
  const lists = listsOf(user("@eve:a.b", { recommendation: "org.example.watch" }));
  assertEquals(lists.matches("@eve:a.b"), undefined);
  assertEquals([...lists.rulesFor("@eve:a.b")].map(({ recommendation }) => recommendation), [
    "org.example.watch",
  ]);
});

Deno.test("PolicyLists.apply() ends a rule whose event is redacted, and no other", () => {
  const redaction = (id: EventID, place: "beside" | "within"): PolicyEvent => ({
    type: "m.room.redaction",
    sender: "@mod:a.b",
    content: place === "beside" ? {} : { redacts: id },
    ...(place === "beside" && { redacts: id }),
  });
  const first = { ...rule("m.policy.rule.user", "@a:a.b", {}, "key"), event_id: "$1" as const };
  const second = { ...rule("m.policy.rule.user", "@b:a.b", {}, "key"), event_id: "$2" as const };
  const lists = listsOf(first, second, user("@c:a.b"));
  assert(!lists.apply(LIST, redaction("$1", "beside")), "another rule is in its place");
  assert(!lists.apply("!other:a.b", redaction("$2", "beside")), "another room");
  assert(lists.matches("@b:a.b"));
  assert(lists.apply(LIST, redaction("$2", "within")));
  assert(!lists.apply(LIST, redaction("$2", "beside")), "once");
  assertEquals([...lists.rules()].map(({ entity }) => entity), ["@c:a.b"]);
});

Deno.test("PolicyLists.apply() puts a rule in place of one with its key, and ends one that is cleared", () => {
  const lists = listsOf(rule("m.policy.rule.user", "@a:a.b", {}, "key"));
  assert(lists.apply(LIST, rule("m.policy.rule.user", "@b:a.b", {}, "key")));
  assertEquals([lists.matches("@a:a.b"), lists.matches("@b:a.b")?.entity], [undefined, "@b:a.b"]);
  assert(lists.apply("!other:a.b", rule("m.policy.rule.user", "@c:a.b", {}, "key")));
  assert(lists.apply(LIST, { ...rule("m.policy.rule.user", "", {}, "key"), content: {} }));
  assertEquals([...lists.rules()].map(({ entity }) => entity), ["@c:a.b"]);
  assert(!lists.apply(LIST, rule("m.room.name", "x")));
  assert(!lists.apply(LIST, user(7)) && !lists.apply(LIST, user("@a:a.b", { recommendation: null })));
});

Deno.test("PolicyLists.replace() and forget() end the rules of that list alone", () => {
  const lists = listsOf(user("@a:a.b"), user("@b:a.b"));
  lists.apply("!other:a.b", user("@c:a.b"));
  lists.replace(LIST, [user("@d:a.b"), rule("m.room.name", "x")]);
  assertEquals([...lists.rules("user")].map(({ entity }) => entity).sort(), ["@c:a.b", "@d:a.b"]);
  lists.forget("!other:a.b");
  assertEquals(lists.size, 1);
});

Deno.test("PolicyLists spares whom it is told to, and keeps no more rules than it is told to", () => {
  const lists = new PolicyLists({ spare: ["@me:a.b", "c.d"], maxRules: 2 });
  assert(
    lists.apply(LIST, user("*")) && lists.apply(LIST, server("*")) && !lists.apply(LIST, user("@x:y.z")),
  );
  assertEquals([lists.matches("@me:a.b"), lists.matches("@any:c.d"), lists.matches("c.d")], [
    undefined,
    undefined,
    undefined,
  ]);
  assertEquals(lists.matches("@you:a.b")?.entity, "*");
});

Deno.test("PolicyLists finds one among 100,000 users at once", () => {
  const lists = listsOf(...Array.from({ length: 100_000 }, (_, at) => user(`@u${at}:a.b`)));
  took(500, "matches", () => {
    for (let round = 0; round < 10_000; round++) lists.matches(`@u${round}:a.b`);
  });
});

const OWN = { ownServer: "own.example:8448" };

Deno.test("serverAcl() keeps out the servers of the rules, each once, and lets all others in", () => {
  const lists = listsOf(
    server("b.example"),
    server("*.c.example"),
    server("x.c.example"),
    server("B.example:1234"),
    server("w.example", { recommendation: "org.example.watch" }),
    user("@eve:d.example"),
  );
  assertEquals(serverAcl(lists, OWN), {
    content: { allow_ip_literals: true, allow: ["*"], deny: ["*.c.example", "b.example"] },
    skipped: [],
  });
});

Deno.test("serverAcl() never keeps the own server out, whatever rules and base say", () => {
  const lists = listsOf(
    server("*"),
    server("own.example"),
    server("OWN.*"),
    server("??n.example"),
    server("not a server"),
  );
  const base = { allow: ["friend.example"], deny: ["*.example", "foe.test"], allow_ip_literals: false };
  const { content, skipped } = serverAcl(lists, { ...OWN, base });
  assertEquals(content, {
    allow_ip_literals: false,
    allow: ["friend.example", "own.example"],
    deny: ["foe.test"],
  });
  assertEquals(skipped.length, 5);
  assert(serverAcl(lists, { ownServer: "[::1]:8448", base }).content.allow_ip_literals);
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom("*", "o*", "own.example", "?wn.example", "x", "*.example")),
      (patterns) => {
        const { content } = serverAcl(listsOf(...patterns.map((pattern) => server(pattern))), {
          ...OWN,
          base: { allow: patterns, deny: patterns },
        });
        const fits = (globs: readonly string[]) =>
          globs.some((glob) => readGlob(glob).matches("own.example"));
        assert(fits(content.allow) && !fits(content.deny));
      },
    ),
  );
});

Deno.test("serverAcl() refuses to make an ACL that fits into no event", () => {
  const lists = listsOf(...Array.from({ length: 4_000 }, (_, at) => server(`server-number-${at}.example`)));
  assertThrows(() => serverAcl(lists, OWN), ValueError, "follow fewer lists");
});
