import { assert } from "@std/assert";
import {
  isName,
  isOpaqueId,
  looksLikeEventId,
  looksLikeRoomAlias,
  looksLikeRoomId,
  looksLikeUserId,
} from "../../../src/types/checks/identifiers.ts";

const LONGEST = "é".repeat(126); // 252 bytes

const cases: Readonly<
  Record<string, [is: (value: unknown) => boolean, fit: readonly string[], unfit: readonly unknown[]]>
> = {
  "a user ID is one also if it is historical: of capitals, of any script, with control characters, or empty in front":
    [
      looksLikeUserId,
      [
        "@a:b",
        "@:b",
        "@ALICE:Example.org:8448",
        "@Алиса 😀:b",
        "@\u0001:b",
        "@\ue000:b",
        `@${LONGEST}:b`,
        "@a:[::1]",
      ],
      [
        "",
        "@",
        "@a",
        "a:b",
        "!a:b",
        "@a\0:b",
        "@a\ud800:b",
        `@${LONGEST}c:b`,
        `@${"a".repeat(254)}`,
        7,
        null,
        ["@a:b"],
      ],
    ],
  "a room ID is one with a server's name and without": [
    looksLikeRoomId,
    ["!a:b", "!31hneApxJ_1o-63DmFrpeqnkFfWppnzWso1JvH3ogLM", "!\u0001", `!${LONGEST}`],
    ["", "a", "#a:b", "!\0", "!\udfff", `!${LONGEST}abc`, {}],
  ],
  "an event ID is one of every room version": [
    looksLikeEventId,
    ["$a:b", "$Rqnc-F-dvnEYJTyHq_iKxU2bZ1CI92-kuZq3a5lr5Zg", "$acR1l0raoZnm60CBwAVgqbZqoO/mYU81xysh1u7XcJk"],
    ["", "a", "!a", "$\0", `$${LONGEST}abc`, undefined],
  ],
  "a room alias names its server": [looksLikeRoomAlias, ["#a:b", "#é:b"], ["#a", "#a\0:b", "!a:b"]],
  "a device, a session and a request are called whatever is printable": [
    isOpaqueId,
    ["A", "Ä phone", "__proto__", "M64w9xV8VVxmG9mSGkzKOjeOf4aEaIqOzZVqjUnQXyk", "+/=", "😀", "\ue000"],
    ["", "a\n", "\0", "\u0001", "\u007f", "\u0085", "\ud800", `${LONGEST}abcd`, 7, null],
  ],
  "a type and a state key are of any characters": [isName, ["", "\0", "\ud800", LONGEST], [
    `${LONGEST}abcd`,
    7,
    null,
  ]],
};

for (const [name, [is, fit, unfit]] of Object.entries(cases)) {
  Deno.test(name, () => {
    for (const value of fit) assert(is(value), JSON.stringify(value));
    for (const value of unfit) assert(!is(value), JSON.stringify(value));
  });
}
