import { assert, assertEquals } from "@std/assert";
import {
  escapeMarkdown,
  findMatrixLinks,
  formatMarkdown,
  formatText,
  linkTo,
  mention,
  mentionHtml,
  sanitizeHtml,
} from "@greenroom/matrix/bot";
import fc from "fast-check";

const html = async (markdown: string) =>
  (await formatMarkdown(markdown)).formatted_body?.replaceAll("\n", "");

Deno.test("formatMarkdown() formats CommonMark, tables, strikethrough and spoilers", async () => {
  for (
    const [markdown, formatted] of [
      ["**a**", "<strong>a</strong>"],
      ["*a*\n\nb", "<p><em>a</em></p><p>b</p>"],
      ["# a", "<h1>a</h1>"],
      ["~~a~~", "<s>a</s>"],
      ["||a *b*||", '<span data-mx-spoiler="">a <em>b</em></span>'],
      ["||a||||b||", '<span data-mx-spoiler="">a</span><span data-mx-spoiler="">b</span>'],
      ["**a\nb**", "<strong>a<br>b</strong>"],
      ["```rust\nlet <a>;\n```", '<pre><code class="language-rust">let &lt;a&gt;;</code></pre>'],
      [
        "|a|\n|-|\n|b|",
        "<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>b</td></tr></tbody></table>",
      ],
      ["1. a\n2. b", "<ol><li>a</li><li>b</li></ol>"],
      ["[a](https://b.c)", '<a href="https://b.c">a</a>'],
      ["a \\* b", "a * b"],
      ["&copy;", "©"],
    ] as const
  ) assertEquals(await html(markdown), formatted, markdown);
});

Deno.test("formatMarkdown() sends the Markdown as plain text, and formats nothing if there is nothing to", async () => {
  assertEquals(await formatMarkdown("**a**"), {
    body: "**a**",
    format: "org.matrix.custom.html",
    formatted_body: "<strong>a</strong>",
    "m.mentions": {},
  });
  for (
    const plain of ["a", "a\nb", "a\n\nb  \n", "1 < 2 & 3", "a || b", "2 * 3 * 4", "@room a_b_c", "", " \n "]
  ) {
    assertEquals(await formatMarkdown(plain), { body: plain, "m.mentions": {} }, plain);
  }
});

Deno.test("formatMarkdown() escapes nothing in the plain text, where code is as it is", async () => {
  for (
    const [markdown, body] of [
      ["buy \\*milk\\*", "buy *milk*"],
      ["**a** \\\\ \\a \\é \\", "**a** \\ \\a \\é \\"],
      ["# a\\_b\n\n- c\\_d\r\n  \\- e\n\n> f\\_g\n", "# a_b\n\n- c_d\r\n  - e\n\n> f_g\n"],
      ["a\\\nb\\", "a\nb\\"],
      ["`a\\*` \\`b\\*\\` `` ` c\\* `` \\*", "`a\\*` `b*` `` ` c\\* `` *"],
      [
        "~~~\na\\*\n~~~\n\n    b\\*\n\n<pre>\nc\\*\n</pre>\n\nd\\*",
        "~~~\na\\*\n~~~\n\n    b\\*\n\n<pre>\nc\\*\n</pre>\n\nd*",
      ],
      ["- `a\n- b\\*`", "- `a\n- b*`"],
      ["| a\\_ | b\\_ |\n|-|-|\n| c\\_ | `d\\_` |", "| a_ | b_ |\n|-|-|\n| c_ | `d\\_` |"],
      ["<https://a.b/c\\_d> [e\\_f](https://g.h)", "<https://a.b/c\\_d> [e_f](https://g.h)"],
    ] as const
  ) assertEquals((await formatMarkdown(markdown)).body, body, markdown);
});

Deno.test("formatMarkdown() takes the HTML that messages may have, and shows all other as text", async () => {
  assertEquals(await html("<u>a</u> Vec<String>"), "<u>a</u> Vec&lt;String&gt;");
  assertEquals(
    await html("<script>a()</script>\n\n*b*"),
    "&lt;script&gt;a()&lt;/script&gt;<p><em>b</em></p>",
  );
  assertEquals(await html('<b onclick="a()">b</b>'), "<b>b</b>");
  assertEquals(
    await html("<details><summary>a</summary>\n\n*b*\n\n</details>"),
    "<details><summary>a</summary><p><em>b</em></p></details>",
  );
});

Deno.test("formatMarkdown() shows images of the homeserver, and links to those that are elsewhere", async () => {
  assertEquals(
    await html("![a](mxc://b.c/d) ![e](https://f.g/h)"),
    '<img src="mxc://b.c/d" alt="a"> <a href="https://f.g/h">e</a>',
  );
});

Deno.test("formatMarkdown() mentions the users it links to, but not in quotes or code, nor @room", async () => {
  const [alice, bob] = [mention("@alice:a.b", "Alice"), mention("@bob:a.b")];
  const mentions = async (markdown: string, options = {}) =>
    (await formatMarkdown(markdown, options))["m.mentions"];
  assertEquals(await mentions(`${alice}, **${bob}**, ${alice} @room`), {
    user_ids: ["@alice:a.b", "@bob:a.b"],
  });
  assertEquals(
    await mentions(`> ${alice}\n\n\`${alice}\`\n\n\`\`\`\n${alice}\n\`\`\`\n\n    ${alice}\n`),
    {},
  );
  assertEquals(await mentions(`> ${alice}\n\n${bob}`), { user_ids: ["@bob:a.b"] });
  assertEquals(await mentions(alice, { links: false }), {});
  assertEquals(await mentions("a", { users: ["@carol:a.b"], room: true }), {
    user_ids: ["@carol:a.b"],
    room: true,
  });
  assertEquals(formatText(alice), { body: alice, "m.mentions": {} });
});

Deno.test("formatMarkdown() leaves text alone that is longer than any event", async () => {
  const text = `**${"a".repeat(65_536)}**`;
  assertEquals(await formatMarkdown(text), { body: text, "m.mentions": {} });
});

Deno.test("formatMarkdown() ends quickly for as much hostile Markdown as an event can hold", async () => {
  const parts = "[ ![ [a]( *a _a* **a *b > ` <a <!-- ||a ~~a - 1. & &#x ``` |a|b|\n a|\n # [^a]: [a]:b\n\\["
    .split(" ");
  for (const part of [...parts, "> ", "- ", "* a\n", ">\n", "|a|b|\n|-|-|\n", "*a **a "]) {
    const text = part.repeat(Math.ceil(65_000 / part.length));
    const start = performance.now();
    const { formatted_body = "" } = await formatMarkdown(text);
    assert(performance.now() - start < 1_5000, part); // far below what is not linear takes
    assertEquals(sanitizeHtml(formatted_body), formatted_body, part);
  }
});

Deno.test("escapeMarkdown() lets text say what it says, whatever it is", async () => {
  const piece = fc.constantFrom(
    ..."* ** _ ` ``` ~~ || > # - + 1. 1) [ ] ( ) < > & ; \\ ! | : = \n".split(" "),
    " ",
    "\n",
    "    ",
    "\t",
    "&amp;",
    "<b>",
    "a",
    "http://a.b",
    "[a](https://matrix.to/#/@a:b.c)",
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 30, size: "max" }), async (parts) => {
      const said = parts.join("");
      const { body, formatted_body, "m.mentions": mentions } = await formatMarkdown(
        `**b** ${escapeMarkdown(said)}`,
      );
      assertEquals(body.replaceAll(/\s+/g, ""), `**b**${said}`.replaceAll(/\s+/g, ""));
      assertEquals(mentions, {});
      const shown = (formatted_body ?? "").replaceAll(/<\/?(?:p|br)>/g, " ").replace("<strong>b</strong>", "")
        .replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&");
      assertEquals(shown.replaceAll(/\s+/g, ""), said.replaceAll(/\s+/g, ""));
    }),
    { numRuns: 1_000 },
  );
});

Deno.test("mention() and linkTo() write links that say no more than their name", async () => {
  const evil = "](https://evil.example) **x**\n\n# y <b>";
  const { formatted_body } = await formatMarkdown(mention("@a:b.c", evil));
  assertEquals(
    formatted_body,
    '<a href="https://matrix.to/#/%40a%3Ab.c">](https://evil.example) **x** # y &lt;b&gt;</a>',
  );
  assertEquals(mentionHtml("@a:b.c", "<i>&"), '<a href="https://matrix.to/#/%40a%3Ab.c">&lt;i&gt;&amp;</a>');
  assertEquals(
    await html(linkTo({ id: "!r(:b.c", eventId: "$e)", via: ["d.e"] }, "x")),
    '<a href="https://matrix.to/#/!r%28%3Ab.c/%24e%29?via=d.e">x</a>',
  );
});

Deno.test("findMatrixLinks() finds links of both kinds, and none that leads nowhere", () => {
  const text =
    "see matrix:r/a:b.c, (https://matrix.to/#/%40d:e.f) https://matrix.to/#/nowhere and matrix:u/.";
  assertEquals(findMatrixLinks(text), [{ id: "#a:b.c" }, { id: "@d:e.f" }]);
  assertEquals(findMatrixLinks("matrix:u/a:b ".repeat(500)).length, 100);
});
