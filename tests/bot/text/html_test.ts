import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { Parser } from "htmlparser2";
import { formatHtml, htmlToText, sanitizeHtml } from "@greenroom/matrix/bot";
import { took } from "./took.ts";

const TAGS =
  ("del h1 h2 h3 h4 h5 h6 blockquote p a ul ol sup sub li b i u strong em s code hr br div table thead " +
    "tbody tr th td caption pre span img details summary").split(" ");
const ATTRIBUTES: Record<string, RegExp> = {
  "a href": /^(?:https?|ftp|mailto|magnet):/i,
  "img src": /^mxc:\/\/[^/]+\/[\w-]+$/,
  "img alt": /^/,
  "img title": /^/,
  "img width": /^\d+$/,
  "img height": /^\d+$/,
  "ol start": /^-?\d+$/,
  "code class": /^language-\S+$/,
  "div data-mx-maths": /^/,
  "span data-mx-maths": /^/,
  "span data-mx-color": /^#[0-9a-f]{6}$/i,
  "span data-mx-bg-color": /^#[0-9a-f]{6}$/i,
  "span data-mx-spoiler": /^/,
};

/** What is wrong with HTML, as another reader of HTML understands it. */
function faults(html: string): string[] {
  const found: string[] = [];
  let depth = 0;
  const parser = new Parser({
    onopentag(name, attributes) {
      depth++;
      if (!TAGS.includes(name)) found.push(`tag ${name}`);
      if (depth > 101) found.push("depth"); // a void element, which holds nothing, may lie in the hundredth
      for (const [attribute, value] of Object.entries(attributes)) {
        if (ATTRIBUTES[`${name} ${attribute}`]?.test(value) !== true) {
          found.push(`${name} ${attribute}=${value}`);
        }
      }
    },
    onclosetag(_name, isImplied) {
      depth--;
      if (isImplied && !["br", "hr", "img"].includes(_name)) found.push(`unclosed ${_name}`);
    },
    oncomment: () => found.push("comment"),
    onprocessinginstruction: () => found.push("instruction"),
  });
  parser.end(html);
  return found;
}

Deno.test("sanitizeHtml() keeps what messages may have", () => {
  const kept = '<h1>a</h1><p><b>b</b><br><a href="https://example.org/?a=1&amp;b">c</a></p>' +
    '<ol start="3"><li>d</li></ol><pre><code class="language-ts">e &lt; f</code></pre>' +
    '<span data-mx-spoiler="why" data-mx-color="#ff0000">g</span><img src="mxc://a.b/c" alt="h" width="3">' +
    '<details><summary>i</summary>j</details><div data-mx-maths="x^2">k</div>';
  assertEquals(sanitizeHtml(kept), kept);
});

Deno.test("sanitizeHtml() leaves out what messages may not have", () => {
  for (
    const [given, left] of [
      ["<b onclick='x()'>a</b>", "<b>a</b>"],
      ["a<script>b</script>c<style>d</style>", "ac"],
      ["<svg><script>a</script></svg>b", "b"],
      ["<section>a</section>", "a"],
      ['<a href="javascript:x()">a</a>', "<a>a</a>"],
      ['<a href="java&#10;script:x()">a</a>', "<a>a</a>"],
      ['<a href=" jAvAsCrIpT:x()">a</a>', "<a>a</a>"],
      ['<a href="//example.org">a</a><a href="/b">c</a>', "<a>a</a><a>c</a>"],
      ['<a href="data:text/html,x" target="_top">a</a>', "<a>a</a>"],
      ['<img src="https://example.org/track.png" alt="<b>a">', "&lt;b&gt;a"],
      ['<img src="mxc://a/../b">', ""],
      ['<code class="big language-c++ x">a</code>', '<code class="language-c++">a</code>'],
      ['<span data-mx-color="red;x" style="y">a</span>', "<span>a</span>"],
      ["a<!-- b --><?c?><!doctype d><![CDATA[e]]>f", "af"],
      ["<mx-reply><blockquote>a</blockquote></mx-reply>b", "b"],
      ["<mx-reply>a<mx-reply>b</mx-reply>c</mx-reply>d", "d"],
      ['<a href="https://a.b" href="https://c.d">e</a>', '<a href="https://a.b">e</a>'],
      [`<a href="https://a.b/${"c".repeat(8_192)}">d</a>`, "<a>d</a>"],
      ["<script>a", ""],
      ["a\0b\x07c\ud800", "abc\ufffd"],
      ["<b <i>a", "<b>a</b>"],
      ["&lt;script&gt;", "&lt;script&gt;"],
    ] as const
  ) assertEquals(sanitizeHtml(given), left, given);
});

Deno.test("sanitizeHtml() writes old tags and matrix: links as they are written today", () => {
  assertEquals(
    sanitizeHtml(
      '<strike>a</strike><font color="#00ff00">b</font><a href="matrix:u/alice:example.org">c</a>',
    ),
    '<s>a</s><span data-mx-color="#00ff00">b</span><a href="https://matrix.to/#/%40alice%3Aexample.org">c</a>',
  );
});

Deno.test("sanitizeHtml() closes in order what is not, and ends what another element ends", () => {
  assertEquals(sanitizeHtml("<b><i>a</b>b</i>"), "<b><i>a</i></b>b");
  assertEquals(
    sanitizeHtml('<a href="mailto:b">c<b>d<a href="mailto:e">f</a>g</b></a>'),
    '<a href="mailto:b">c<b>d</b></a><a href="mailto:e">f</a>g',
  );
  assertEquals(sanitizeHtml("<p>a<p>b<ul><li>c<li>d</ul>"), "<p>a</p><p>b</p><ul><li>c</li><li>d</li></ul>");
  assertEquals(sanitizeHtml("<h1>a<h2>b<i>c<h3>d"), "<h1>a</h1><h2>b<i>c<h3>d</h3></i></h2>");
  assertEquals(
    sanitizeHtml("<table><tr><td>a<td>b<tr><th>c"),
    "<table><tr><td>a</td><td>b</td></tr><tr><th>c</th></tr></table>",
  );
});

Deno.test("sanitizeHtml() nests at most 100 elements, and loses no text by it", () => {
  const html = sanitizeHtml(`${"<b>".repeat(5_000)}deep`);
  assertEquals(html, `${"<b>".repeat(100)}deep${"</b>".repeat(100)}`);
});

const fragment = fc.oneof(
  fc.constantFrom(...TAGS, "script", "svg", "mx-reply", "font", "x").chain((tag) =>
    fc.constantFrom(`<${tag}>`, `</${tag}>`, `<${tag} `, `<${tag}/>`)
  ),
  fc.constantFrom(
    ' href="',
    " src='mxc://a/b'",
    ' href="https://matrix.to/#/@a:b.c"',
    " onerror=",
    '"',
    "'",
    ">",
    "<",
    "</",
    "<!--",
    "-->",
    "&lt;",
    "&#x3c;",
    "&",
    "<![CDATA[",
    "]]>",
    "javascript:x",
    " data-mx-spoiler=",
    "<?",
  ),
  fc.string({ unit: "binary", maxLength: 5 }),
);

Deno.test("sanitizeHtml() lets pass what is allowed and nothing else, whatever it is given", () => {
  fc.assert(
    fc.property(fc.array(fragment, { maxLength: 60, size: "max" }), (parts) => {
      const html = sanitizeHtml(parts.join(""));
      assertEquals(faults(html), [], parts.join(""));
      assert(html.isWellFormed());
      assertEquals(sanitizeHtml(html), html);
    }),
    { numRuns: 2_000 },
  );
});

const HOSTILE = [
  "<b>",
  "<",
  "</b>",
  "<a href='",
  "<a href=x:y>",
  "&amp;",
  "<!--",
  "<p>",
  "<li>",
  "<td>",
  "<svg>",
];
const HOSTILE_TOO = [
  "<script>",
  "<a b='&amp;",
  "<blockquote>",
  "<![CDATA[",
  "<title>",
  "<b></i>",
  "<div a=b ",
];

Deno.test("sanitizeHtml() takes well under a second for a megabyte of anything", () => {
  for (const part of [...HOSTILE, ...HOSTILE_TOO]) {
    took(1_000, part, () => sanitizeHtml(part.repeat(Math.ceil(1_000_000 / part.length))));
  }
});

Deno.test("htmlToText() writes paragraphs, lists, links, tables and images as text", async () => {
  assertEquals(
    await htmlToText(
      '<h2>A</h2><p>b &amp; <a href="https://c.d">e</a></p><ol><li>f</li></ol>' +
        '<table><tr><th>g</th><th>h</th></tr><tr><td>i</td><td>j</td></tr></table><img src="mxc://k/l" alt="m">',
    ),
    "A\n\nb & e (https://c.d)\n\n 1. f\n\n| g | h\n| i | j\n\nm",
  );
  assertEquals(await htmlToText("<mx-reply>quoted</mx-reply>a<br>b<script>c</script>"), "a\nb");
  assertEquals(await htmlToText('<a href="https://matrix.to/#/@a:b.c">Alice</a>: hi'), "Alice: hi");
});

Deno.test("htmlToText() ends quickly for as much HTML as an event can hold", async () => {
  for (const part of HOSTILE) {
    const start = performance.now();
    await htmlToText(part.repeat(Math.ceil(65_536 / part.length)));
    assert(performance.now() - start < 1_0000, part); // far below what is not linear takes
  }
});

Deno.test("formatHtml() sends clean HTML, its text, and mentions by links outside of quotes and code", async () => {
  const link = (name: string) => `<a href="https://matrix.to/#/@${name}:x.y">${name}</a>`;
  assertEquals(
    await formatHtml(
      `<blockquote>${link("a")}</blockquote><code>${link("b")}</code>${link("c")}<script>d</script>`,
    ),
    {
      body: "> a\n\nbc",
      format: "org.matrix.custom.html",
      formatted_body: `<blockquote>${link("a")}</blockquote><code>${link("b")}</code>${link("c")}`,
      "m.mentions": { user_ids: ["@c:x.y"] },
    },
  );
});
