/** Which rule an event matches, condition by condition, and what a hostile one costs. */

import { assert, assertEquals } from "@std/assert";
import type { PushCondition, PushRule, PushRuleset } from "@greenroom/matrix/types";
import { evaluatePushRules, matchesGlob, type PushFacts } from "../../src/types/push_rules.ts";

const FACTS: PushFacts = { displayName: "Alice Smith", memberCount: 3, mayNotify: (way) => way === "room" };
const EVENT = {
  type: "m.room.message",
  sender: "@bob:localhost",
  room_id: "!room:localhost",
  content: {
    body: "Lunch with alice smith? Or tea, @room",
    msgtype: "m.text",
    "a.b": { "c\\d": ["x", 1, null] },
    flag: true,
    none: null,
  },
};

function rule(rule_id: string, more: Partial<PushRule> = {}): PushRule {
  return { rule_id, default: false, enabled: true, actions: ["notify"], ...more };
}

function matches(rules: PushRuleset, facts: Partial<PushFacts> = {}): string | undefined {
  return evaluatePushRules(rules, EVENT, { ...FACTS, ...facts }).rule?.rule_id;
}

const CONDITIONS: readonly [PushCondition, boolean][] = [
  [{ kind: "event_match", key: "type", pattern: "m.room.message" }, true],
  [{ kind: "event_match", key: "type", pattern: "M.ROOM.*" }, true],
  [{ kind: "event_match", key: "type", pattern: "m.room" }, false],
  [{ kind: "event_match", key: "type", pattern: "m?room?message" }, true],
  [{ kind: "event_match", key: "content.body", pattern: "lunch" }, true],
  [{ kind: "event_match", key: "content.body", pattern: "lun" }, false],
  [{ kind: "event_match", key: "content.body", pattern: "lun*tea" }, true],
  [{ kind: "event_match", key: "content.body", pattern: "tea*lunch" }, false],
  [{ kind: "event_match", key: "content.body", pattern: "t?a" }, true],
  [{ kind: "event_match", key: "content.body", pattern: "@room" }, true],
  [{ kind: "event_match", key: "content.flag", pattern: "true" }, false],
  [{ kind: "event_match", key: "content.constructor", pattern: "*" }, false],
  [{ kind: "event_property_is", key: "content.flag", value: true }, true],
  [{ kind: "event_property_is", key: "content.none", value: null }, true],
  [{ kind: "event_property_is", key: "content.flag", value: "true" }, false],
  [{ kind: "event_property_is", key: "content.gone" }, false],
  [{ kind: "event_property_contains", key: "content.a\\.b.c\\\\d", value: "x" }, true],
  [{ kind: "event_property_contains", key: "content.a\\.b.c\\\\d", value: null }, true],
  [{ kind: "event_property_contains", key: "content.a\\.b.c\\\\d", value: "y" }, false],
  [{ kind: "event_property_contains", key: "content.body", value: "Lunch" }, false],
  [{ kind: "contains_display_name" }, true],
  [{ kind: "room_member_count", is: "3" }, true],
  [{ kind: "room_member_count", is: "==2" }, false],
  [{ kind: "room_member_count", is: ">=3" }, true],
  [{ kind: "room_member_count", is: ">3" }, false],
  [{ kind: "room_member_count", is: "<4" }, true],
  [{ kind: "room_member_count", is: "<=2" }, false],
  [{ kind: "room_member_count", is: "few" }, false],
  [{ kind: "room_member_count" }, false],
  [{ kind: "sender_notification_permission", key: "room" }, true],
  [{ kind: "sender_notification_permission", key: "all" }, false],
  [{ kind: "org.example.moon_is_full" }, false],
];

for (const [condition, holds] of CONDITIONS) {
  Deno.test(`The condition ${JSON.stringify(condition)} ${holds ? "holds" : "does not hold"}`, () => {
    assertEquals(matches({ override: [rule("it", { conditions: [condition] })] }), holds ? "it" : undefined);
  });
}

Deno.test("A display name matches as whole words, and its wildcards are one character each", () => {
  const rules = { override: [rule("named", { conditions: [{ kind: "contains_display_name" }] })] };
  const names = ["alice", "lice", "", undefined, "alice*smith", "Lunch*tea"];
  const named = names.filter((displayName) => matches(rules, { displayName }) === "named");
  assertEquals(named, ["alice", "alice*smith"]);
});

Deno.test("Rules are tried by kind and in their order, and those that are off are left out", () => {
  const all = {
    override: [rule("off", { enabled: false }), rule("other", { conditions: [{ kind: "event_match" }] })],
    content: [rule("word", { pattern: "tea" })],
    room: [rule("!room:localhost")],
    sender: [rule("@bob:localhost")],
    underride: [rule("first"), rule("second")],
  };
  const tried: (string | undefined)[] = [];
  for (const kind of ["none", "content", "room", "sender", "underride"]) {
    tried.push(matches({ ...all, ...off(all, kind) }));
  }
  assertEquals(tried, ["word", "!room:localhost", "@bob:localhost", "first", undefined]);
});

/** The kinds up to one, without rules. */
function off(rules: PushRuleset, kind: string): PushRuleset {
  const kinds = Object.keys(rules) as (keyof PushRuleset)[];
  return Object.fromEntries(
    kinds.slice(0, kinds.indexOf(kind as keyof PushRuleset) + 1).map((each) => [each, []]),
  );
}

Deno.test("The result is what the rule's actions say", () => {
  const results = ([
    [],
    ["dont_notify"],
    ["notify"],
    ["notify", { set_tweak: "highlight" }],
    ["notify", { set_tweak: "highlight", value: false }, { set_tweak: "sound", value: "default" }],
    [{ set_tweak: "highlight" }],
  ] as const).map((actions) => {
    const { isNotified, isHighlighted, sound } = evaluatePushRules(
      { underride: [rule("it", { actions: [...actions] })] },
      EVENT,
      FACTS,
    );
    return [isNotified, isHighlighted, sound];
  });
  assertEquals(results, [
    [false, false, undefined],
    [false, false, undefined],
    [true, false, undefined],
    [true, true, undefined],
    [true, false, "default"],
    [false, false, undefined],
  ]);
});

Deno.test("A glob that regular expressions would take for ever over ends at once", () => {
  const text = "a".repeat(65_000);
  assert(!matchesGlob(`${"*a".repeat(60)}*b`, text));
  const words = true;
  assert(!matchesGlob(`${"a*".repeat(60)}b`, text, { words }));
  assert(!matchesGlob(`${"?".repeat(250)}b`, text, { words }));
  assert(!matchesGlob("*".repeat(256), text), "longer than a glob may be");
});

Deno.test("Globs match as the regular expressions do that they stand for", () => {
  const globs = ["a", "*", "?", "a*", "*a", "a*b", "a?b", "*a*b*", "", "?*", "ab*ab"];
  const texts = ["", "a", "b", "ab", "aab", "a b", "b a", "xaxbx", "abab", "ab ab", "-a-", "_a_", "aba"];
  for (const words of [false, true]) {
    for (const glob of globs) {
      const body = glob.replaceAll("*", ".*").replaceAll("?", ".");
      const expected = new RegExp(words ? `(^|\\W)${body}(\\W|$)` : `^${body}$`, "is");
      for (const text of texts) {
        assertEquals(
          matchesGlob(glob, text, { words }),
          expected.test(text),
          `${glob} on "${text}", words: ${words}`,
        );
      }
    }
  }
});
