import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { closeMarkdown, formatMarkdown } from "@greenroom/matrix/bot";
import { fenceBehind } from "../../../src/bot/text/close_markdown.ts";
import { took } from "./took.ts";

const CASES: Record<string, readonly (readonly [partial: string, closed: string])[]> = {
  "emphasis, also half of its end": [
    ["To **be or", "To **be or**"],
    ["**a*", "**a**"],
    ["**a ", "**a**"],
    ["*a **b", "*a **b***"],
    ["***a** b", "***a** b*"],
    ["~~a~", "~~a~~"],
    ["||a|", "||a||"],
    ["_a", "_a_"],
    ["# a *b", "# a *b*"],
    ["> a **b", "> a **b**"],
  ],
  "what is no emphasis": [
    ["a_b", "a_b"],
    ["# **a\nb", "# **a\nb"],
    ["2 * 3", "2 * 3"],
    ["- a\n- b", "- a\n- b"],
    ["**a** b", "**a** b"],
    ["**a\n\nb", "**a\n\nb"],
    ["- *a\n- b", "- *a\n- b"],
    ["\\*a", "\\*a"],
  ],
  "spans of code": [
    ["`a", "`a`"],
    ["``a `b", "``a `b``"],
    ["``a`", "``a``"],
    ["**`a*", "**`a*`**"],
    ["a `b` `", "a `b`"],
  ],
  "blocks of code": [
    ["```ts\na", "```ts\na\n```"],
    ["```ts\na\n", "```ts\na\n```"],
    ["a\n```ts", "a"],
    ["```\na\n``", "```\na\n```"],
    ["```\na\n```", "```\na\n```"],
    ["> ```\n> a", "> ```\n> a\n> ```"],
    ["````\n```\na", "````\n```\na\n````"],
    ["```\n**a", "```\n**a\n```"],
    ["```\na\n```ts", "```\na\n```ts\n```"],
    ["\n```\na", "\n```\na\n```"],
    ["```a`b\n**c", "```a`b\n**c```"],
    ["~~~a`b\n**c", "~~~a`b\n**c\n~~~"],
    ["```\na\n```\n**b", "```\na\n```\n**b**"],
    ["**a\n```\nb\n```\nc", "**a\n```\nb\n```\nc"],
    ["~~~\n", "~~~\n~~~"],
    ["~~~\na\n~~~~~", "~~~\na\n~~~~~"],
    [`~~~\na\n~~~${" ".repeat(1_100)}b`, `~~~\na\n~~~${" ".repeat(1_100)}b`],
    ["~~~\na\n~~~\n", "~~~\na\n~~~"],
    ["~~~\na\n``", "~~~\na\n``\n~~~"],
    ["> ~~~\n> a\n> ~~", "> ~~~\n> a\n> ~~~"],
    [`a\n~~~${"b".repeat(2_000)}`, "a"],
    [`\`\`\`\na\n${" ".repeat(40)}\`\``, `\`\`\`\na\n${" ".repeat(40)}\`\`\n\`\`\``],
  ],
  "links and images that are not complete": [
    ["a [b", "a b"],
    ["a [b](https://c", "a b"],
    ["a [**b**](https://c", "a **b**"],
    ["a [b](https://c.d)", "a [b](https://c.d)"],
    ["![a](mxc://b", "a"],
    ["a [b] c", "a [b] c"],
  ],
  "tables": [
    ["| a | b", "| a | b\n|---|---|"],
    ["| **a \\| b", "| **a \\| b**\n|---|"],
    ["| **a | b", "| **a | b\n|---|---|"],
    ["| [", "|\n|---|"],
    ["| a | b\nc", "| a | b\nc"],
    [`|${"a|".repeat(100)}`, `|${"a|".repeat(100)}\n|${"---|".repeat(100)}`],
    [`|${"a|".repeat(101)}`, `|${"a|".repeat(101)}`],
    ["| a |\n|---|\n| b", "| a |\n|---|\n| b"],
    ["a\n| b", "a\n| b"],
    ["| a |\n|---|\n| b |\n**c", "| a |\n|---|\n| b |\n**c**"],
    ["| a |\n|---|\n| b |", "| a |\n|---|\n| b |"],
    ["| a |\n|---|\n| b |\n| c", "| a |\n|---|\n| b |\n| c"],
    ["| a | b |\n|-", "| a | b |\n|---|---|"],
    ["| a |\n|---|\n| **b", "| a |\n|---|\n| **b**"],
  ],
  "marks of which nothing is known yet": [
    ["a\n-", "a"],
    ["a\n--", "a"],
    ["a\n=", "a"],
    ["#", ""],
    ["a\n\n1.", "a"],
    ["a **", "a"],
    ["a\\", "a"],
    ["**[", ""],
    ["a \ud83d", "a"],
    [`a\n${"-".repeat(200)}`, "a"],
    [`a\n${"-".repeat(201)}`, `a\n${"-".repeat(201)}`],
    [`a\n${"> ".repeat(127)}--`, "a"],
    [`a\n${"> ".repeat(128)}-`, `a\n${"> ".repeat(128)}-`],
  ],
};

for (const [what, cases] of Object.entries(CASES)) {
  Deno.test(`closeMarkdown() handles ${what}`, () => {
    for (const [partial, closed] of cases) assertEquals(closeMarkdown(partial), closed, partial);
  });
}

Deno.test("fenceBehind() repeats what the code is written in if that is short, and plain", () => {
  const openings = ["~~~ts", `~~~${"a".repeat(21)}`, `~~~${"a".repeat(22)}`, "~~~é", "> ~~~ ts  "]
    .map((line) => fenceBehind(line, undefined)?.opening);
  assertEquals(openings, ["~~~ts", `~~~${"a".repeat(21)}`, "~~~", "~~~", "> ~~~ ts"]);
});

const ANSWER = `# Plan

To **be**, *or* ~~not~~ to be: \`that\` is ||the|| [question](https://example.org/a).

1. **Bold *and nested* item**
2. Second with \`code\`

> A quote with **bold**

\`\`\`ts
const a = "**not bold**";
\`\`\`

| Who | What |
|-----|------|
| **A** | \`b\` |

The end.`;

/** What of a rendering is text, without marks of Markdown. */
const shown = (html: string) =>
  html.replaceAll(/<[^>]*>/g, "").replaceAll("&quot;", '"').replaceAll(/\s+/g, " ").trim();

Deno.test("closeMarkdown() shows no mark of formatting in any step of an answer, and takes nothing back", async () => {
  const whole = shown((await formatMarkdown(ANSWER)).formatted_body ?? "");
  for (let length = 1; length <= ANSWER.length; length++) {
    const { body, formatted_body = body } = await formatMarkdown(closeMarkdown(ANSWER.slice(0, length)));
    const now = shown(formatted_body);
    assert(whole.startsWith(now), `${JSON.stringify(ANSWER.slice(0, length).slice(-40))}: ${now.slice(-60)}`);
  }
});

const PARTS = [
  "a",
  " ",
  "\n",
  "\n\n",
  "*",
  "**",
  "_",
  "`",
  "```",
  "~~",
  "||",
  "[",
  "](",
  ")",
  "!",
  "\\",
  "|",
  "- ",
  "> ",
  "#",
  "1.",
];

Deno.test("closeMarkdown() leaves no block of code open, and says nothing of its own, whatever the text", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...PARTS), { maxLength: 60, size: "max" }), (parts) => {
      const closed = closeMarkdown(parts.join(""));
      assert(closed.split("a").length <= parts.join("").split("a").length);
      assert(closed.isWellFormed());
    }),
    { numRuns: 2_000 },
  );
});

Deno.test("closeMarkdown() takes well under a second for a megabyte of anything", () => {
  const parts = [
    "a",
    "[",
    "![",
    "[a](",
    "[a](b ",
    "](",
    "*",
    "*a ",
    "**a *b ",
    "_a*",
    "`",
    "`a",
    "||a ",
    "\\",
    "```\n",
  ];
  for (const part of [...parts, "|a", "|a\n", "- a\n", "> ", "#\n", "-\n", "(", "* ", "\n", "[a](("]) {
    took(1_500, part, () => closeMarkdown(part.repeat(1_000_000 / part.length)));
    took(1_500, part, () => closeMarkdown(`${part.repeat(1_000_000 / part.length)})`));
  }
  let runs = "";
  for (let length = 1; runs.length < 1_000_000; length++) runs += `${"`".repeat(length)} `;
  took(1_500, "runs", () => closeMarkdown(runs));
});
