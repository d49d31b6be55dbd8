import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { ValueError } from "@greenroom/matrix";
import { formatMarkdown, formatPieces, mention, splitMessage } from "@greenroom/matrix/bot";
import { MAX_TEXT_BYTES } from "../../../src/bot/text/format_pieces.ts";
import { byteLength } from "../../../src/bot/text/mod.ts";
import { took } from "./took.ts";

Deno.test("splitMessage() leaves text alone that is short enough", () => {
  assertEquals(splitMessage("a\n\nb"), ["a\n\nb"]);
  assertEquals(splitMessage(" \n "), []);
  assertEquals(splitMessage("    code"), ["    code"]);
});

Deno.test("splitMessage() splits between paragraphs, else between lines, else between words", () => {
  const [a, b] = ["a".repeat(40), "b".repeat(40)];
  assertEquals(splitMessage(`${a}\n\n${b}`, 64), [a, b]);
  assertEquals(splitMessage(`${a}\n${b}`, 64), [a, b]);
  assertEquals(splitMessage(`${a} ${b}`, 64), [a, b]);
  assertEquals(splitMessage(`${a}${b}`, 64), [`${a}${b}`.slice(0, 64), `${a}${b}`.slice(64)]);
  assertEquals(splitMessage("aaaa bbbb\ncccc dddd\n\neeee ffff\ngggg hhhh\niiii jjjj\nkkkk llll\nmmmm", 64), [
    "aaaa bbbb\ncccc dddd",
    "eeee ffff\ngggg hhhh\niiii jjjj\nkkkk llll\nmmmm",
  ]);
});

Deno.test("splitMessage() splits no character", () => {
  assertEquals(splitMessage("😀".repeat(40), 66).map((piece) => [...piece].length), [16, 16, 8]);
  assertEquals(splitMessage("é".repeat(40), 65).map(byteLength), [64, 16]);
});

Deno.test("splitMessage() closes code that it splits, and opens it again with its language", () => {
  const line = "let line = 12345678901234567890;";
  assertEquals(splitMessage(`\`\`\`rust\n${line}\n\n    ${line}\n\`\`\`\nend`, 64), [
    `\`\`\`rust\n${line}\n\`\`\``,
    `\`\`\`rust\n    ${line}\n\`\`\`\nend`,
  ]);
  assertEquals(splitMessage(`> ~~~\n> ${line}\n> ${line}\n> ~~~`, 64), [
    `> ~~~\n> ${line}\n> ~~~`,
    `> ~~~\n> ${line}\n> ~~~`,
  ]);
});

Deno.test("splitMessage() leaves room for the end of code, however long its first line is", () => {
  for (let length = 50; length < 70; length++) {
    const pieces = splitMessage(`\`\`\`${"x".repeat(length)}\ncode\ncode`, 64);
    assert(pieces.every((piece) => byteLength(piece) <= 64), `${length}`);
  }
});

Deno.test("splitMessage() goes on with a quote as a quote", () => {
  assertEquals(splitMessage(`> > ${"word ".repeat(20)}`, 64).map((piece) => piece.slice(0, 5)), [
    "> > w",
    "> > w",
  ]);
});

const HEAD = "| a | b |\n|---|---|";

Deno.test("splitMessage() begins each part of a table with its header", () => {
  const rows = Array.from({ length: 20 }, (_, row) => `| ${row + 10} | value ${row + 10} |`);
  const pieces = splitMessage(`Values:\n\n${HEAD}\n${rows.join("\n")}\n\nThat is **all**.`, 120);
  assert(pieces.length > 3);
  assertEquals(pieces.pop(), "That is **all**.");
  for (const piece of pieces) assert(byteLength(piece) <= 120 && piece.includes(`${HEAD}\n| `), piece);
  assertEquals(pieces.map((piece) => piece.split(HEAD).length), pieces.map(() => 2));
  assertEquals(pieces.flatMap((piece) => piece.match(/^\| \d+ .*/gm) ?? []), rows);
});

Deno.test("splitMessage() repeats no header behind the table, in code, or that is long", () => {
  const [row, text] = [`| ${"a".repeat(20)} | b |`, "c".repeat(110)];
  for (const next of [`\n${text}`, `> ${text}`, `- ${text}`, `# ${text}`]) {
    assertEquals(splitMessage(`${HEAD}\n${row}\n${next}`, 120).at(-1), next.trim());
  }
  const long = `| ${"a".repeat(60)} | b |\n|---|---|`;
  assertEquals(splitMessage(`${long}\n${row}\n${row}`, 120), [`${long}\n${row}`, row]);
  const code = `\`\`\`\n${HEAD}\n${row}\n${row}\n${row}\n\`\`\``;
  assertEquals(splitMessage(code, 90).map((piece) => piece.split(HEAD).length), [2, 1]);
  const quotedHead = `> ${HEAD.replace("\n", "\n> ")}`;
  assertEquals(splitMessage(`${quotedHead}\n> ${row}\n> ${row}\n> ${row}`, 92), [
    `${quotedHead}\n> ${row}\n> ${row}`,
    `${quotedHead}\n> ${row}`,
  ]);
});

Deno.test("splitMessage() begins no table at the end of a piece, where not even a row fits in", () => {
  const rows = "| 1 | 2 |\n| 3 | 4 |";
  for (let length = 30; length < 64; length++) {
    const text = "a".repeat(length);
    const pieces = splitMessage(`${text}\n${HEAD}\n${rows}`, 80);
    for (const piece of pieces) assert(!piece.includes("| a |") || piece.includes(`${HEAD}\n| `), piece);
  }
});

Deno.test("splitMessage() goes on in the column in which it cuts a row", async () => {
  const words = "word ".repeat(30).trim();
  const pieces = splitMessage(`${HEAD}\n| 1 \\| 2 | ${words} |\n| 3 | 4 |`, 80);
  assert(pieces.length > 2);
  const cells = [];
  for (const piece of pieces) {
    const { formatted_body: html = "" } = await formatMarkdown(piece);
    cells.push(...html.matchAll(/<td>(.*)<\/td>\n<td>(.*)<\/td>/g).map(([, ...each]) => each));
  }
  assertEquals(cells.map(([first]) => first).filter(Boolean), ["1 | 2", "3"]);
  assertEquals(cells.slice(0, -1).map(([, second]) => second).join(" "), words);
});

Deno.test("splitMessage() refuses a limit that nothing fits into", () => {
  for (const limit of [63, 100.5, NaN, Infinity, -1]) {
    assertThrows(() => splitMessage("a", limit), ValueError);
  }
});

const PARTS = [
  "a",
  "word ",
  "\n",
  "\n\n",
  "```ts\n",
  "```\n",
  "~~~\n",
  "> ",
  "- b\n",
  "😀",
  "    ",
  "`",
  "# ",
  "||",
  "é\n",
  "| a | b |\n",
  "|-|-|\n",
];

Deno.test("splitMessage() loses no text, exceeds no limit, and leaves no code open, whatever the text", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...PARTS), { maxLength: 300, size: "max" }),
      fc.integer({ min: 64, max: 200 }),
      (parts, limit) => {
        const text = parts.join("");
        const pieces = splitMessage(text, limit);
        for (const piece of pieces) assert(byteLength(piece) <= limit && piece.trim() !== "");
        // Fences and quotes are repeated, so what is said is all there, in order, but not alone.
        const joined = pieces.join("");
        let at = 0;
        for (const one of text.replaceAll(/\s/g, "")) {
          at = joined.indexOf(one, at);
          assert(at++ >= 0, one);
        }
      },
    ),
    { numRuns: 3_000 },
  );
});

Deno.test("splitMessage() takes well under a second for a megabyte of anything", () => {
  for (
    const part of [
      "a",
      "a ",
      "\n",
      "```\n",
      "> a",
      "> ```\n",
      "~~~a\n",
      "`",
      "😀",
      " ",
      "\n ",
      ">",
      "|",
      "|a",
      "|a\n|-\n",
    ]
  ) {
    const text = part.repeat(1_000_000 / part.length);
    for (const limit of [64, 7_500]) took(2_000, part, () => splitMessage(text, limit));
  }
});

Deno.test("formatPieces() gives contents that fit into an event, whatever they are written in", async () => {
  for (const part of ["a", '"', "&", "- a\n", "|a|b|\n|-|-|\n|c|\n\n", "*a* ", "\u0001", "😀", "\\"]) {
    const pieces = await formatPieces(part.repeat(30_000 / part.length));
    assert(pieces.length > 0, part);
    for (const piece of pieces) assert(byteLength(JSON.stringify(piece)) <= MAX_TEXT_BYTES, part);
  }
});

Deno.test("formatPieces() leaves no few rows over of a table that it splits because of its formatting", async () => {
  const rows = Array.from({ length: 900 }, (_, row) => `| ${row} | value ${row} |`);
  const pieces = await formatPieces(`${HEAD}\n${rows.join("\n")}`);
  assert(pieces.length > 3);
  for (const { formatted_body = "" } of pieces) assert(formatted_body.split("<tr>").length > 50);
});

Deno.test("formatPieces() mentions in the first piece that does, and nobody who is only quoted", async () => {
  const filler = "\n\n" + "words ".repeat(20);
  const text = [
    mention("@a:b.c"),
    `> ${"words ".repeat(30)}${mention("@q:b.c")}`,
    mention("@d:b.c"),
    mention("@a:b.c"),
  ]
    .join(filler + "\n\n");
  const pieces = await formatPieces(text, { limit: 150, users: ["@e:b.c"], room: true });
  const mentions = pieces.map((piece) => piece["m.mentions"]);
  assertEquals(mentions[0], { user_ids: ["@e:b.c", "@a:b.c"], room: true });
  assertEquals(mentions.slice(1).flatMap(({ user_ids = [], room }) => [...user_ids, room]).filter(Boolean), [
    "@d:b.c",
  ]);
});

Deno.test("formatPieces() mentions nobody out of a quote that it splits because of its formatting", async () => {
  const text = `<blockquote>${'"'.repeat(6_000)}\n\n${mention("@q:b.c")}</blockquote>`;
  const pieces = await formatPieces(text);
  assert(pieces.length > 1);
  assertEquals(pieces.flatMap((piece) => piece["m.mentions"].user_ids ?? []), []);
});

Deno.test("formatPieces() says what formatMarkdown() says if one piece is enough", async () => {
  const text = `**a** ${mention("@a:b.c")}`;
  assertEquals(await formatPieces(text), [await formatMarkdown(text)]);
  assertEquals(await formatPieces(" "), []);
});
