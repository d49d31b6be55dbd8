import { assert, assertEquals } from "@std/assert";
import * as fc from "fast-check";
import { formatHtml, formatHtmlPieces, htmlToText, sanitizeHtml } from "@greenroom/matrix/bot";
import { splitHtml } from "../../../src/bot/text/format_pieces.ts";
import { trying } from "../support.ts";

const words = (html: string): string => html.replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, "");
const bytes = (text: string): number => new TextEncoder().encode(text).length;

Deno.test("HTML over the limit is sent in several messages, each of which is whole", async () => {
  await using tester = trying((bot) =>
    bot.command(
      "list",
      (c) => c.reply(`<ol>${"<li>To be, <b>or not</b> to be</li>".repeat(1_000)}</ol>`, { format: "html" }),
    )
  );
  const room = await tester.room("alice");
  await room.say("!list");
  let items = 0;
  while (items < 1_000) {
    const { content } = await room.expect(/To be/);
    const html = String(content.formatted_body);
    assertEquals(html, sanitizeHtml(html));
    const start = items === 0 ? "<ol>" : `<ol start="${items + 1}">`;
    assert(html.startsWith(`${start}<li>To be`) && html.endsWith("</li></ol>"), html.slice(0, 60));
    items += html.split("<li>").length - 1;
  }
  assertEquals(items, 1_000);
  await room.expectNothing();
});

Deno.test("splitHtml() ends pieces between blocks, else lines, else words, and loses nothing", () => {
  const paragraph = `<p>${"word ".repeat(40)}end</p>`;
  const pieces = splitHtml(paragraph.repeat(5), 500);
  assert(
    pieces.every((piece) => piece.startsWith("<p>word") && piece.endsWith("end</p>")),
    pieces.join("\n"),
  );
  const lines = splitHtml(`<pre><code class="language-ts">${"a line;\n".repeat(100)}</code></pre>`, 300);
  assert(
    lines.every((piece) =>
      /^<pre><code class="language-ts">a line;[^]*a line;\n?<\/code><\/pre>$/.test(piece)
    ),
    lines[1],
  );
  const one = splitHtml("x".repeat(2_000), 300);
  assertEquals(one.join(""), "x".repeat(2_000));
  assertEquals(splitHtml("<p><b></b></p>".repeat(100), 300), []);
});

Deno.test("splitHtml() keeps all text and the limit, whatever the HTML is", () => {
  const tag = fc.constantFrom(
    "b",
    "p",
    "ul",
    "ol",
    "li",
    "blockquote",
    "pre",
    "table",
    "tr",
    "td",
    "code",
    "h1",
  );
  const { html } = fc.letrec<{ html: string }>((tie) => ({
    html: fc.oneof(
      { depthSize: "small" },
      fc.string({ unit: "grapheme", maxLength: 200 }).map((text) => text.replaceAll("<", "&lt;")),
      fc.tuple(tag, fc.array(tie("html"), { maxLength: 6 })).map(([tag, inside]) =>
        `<${tag}>${inside.join(" ")}</${tag}>`
      ),
      fc.tuple(fc.webUrl(), tie("html")).map(([url, inside]) => `<a href="${url}">${inside}</a>`),
    ),
  }));
  fc.assert(fc.property(fc.array(html, { maxLength: 20 }), (parts) => {
    const clean = sanitizeHtml(parts.join("<br>"));
    const pieces = splitHtml(clean, 400);
    for (const piece of pieces) {
      assertEquals(sanitizeHtml(piece), piece);
      assert(bytes(piece) <= 400, `${bytes(piece)}`);
    }
    assertEquals(pieces.map(words).join(""), words(clean));
  }));
});

Deno.test("Deep and long HTML is split in linear time, and every piece fits into an event", async () => {
  const deep = `${'<a href="https://example.org/x">'.repeat(1)}${"<blockquote><b>".repeat(60)}${
    "text ".repeat(30_000)
  }`;
  const pieces = await formatHtmlPieces(deep);
  assert(pieces.length > 5);
  for (const { body, formatted_body } of pieces) {
    assert(bytes(JSON.stringify([body, formatted_body])) < 22_000);
  }
  assertEquals(
    pieces.map(({ body }) => body.replaceAll(/[>\s]/g, "")).join("").match(/text/g)?.length,
    30_000,
  );
});

Deno.test("Users are mentioned by the first piece of HTML that does so", async () => {
  const link = '<a href="https://matrix.to/#/@alice:example.org">Alice</a> ';
  const pieces = await formatHtmlPieces(`<p>${link.repeat(500)}</p>`, { users: ["@bob:example.org"] });
  assert(pieces.length > 1);
  assertEquals(pieces[0]?.["m.mentions"], { user_ids: ["@bob:example.org", "@alice:example.org"] });
  for (const piece of pieces.slice(1)) assertEquals(piece["m.mentions"], {});
});

Deno.test("Short HTML is one message, as formatHtml() writes it", async () => {
  const html = "<h1>Programme</h1><p>Overture &amp; more</p>";
  assertEquals(await formatHtmlPieces(html), [await formatHtml(html)]);
  assertEquals(await htmlToText(html), "Programme\n\nOverture & more");
});
