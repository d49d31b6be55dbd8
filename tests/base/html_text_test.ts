import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { convert } from "html-to-text";
import { Parser } from "htmlparser2";
import { textOfHtml } from "../../src/base/html_text.ts";

/** What is used of the library's walk and builder; it comes without types. */
type Walk = (elements: unknown, builder: Builder) => void;
interface Builder {
  addInline(text: string): void;
}
interface Element {
  readonly attribs: { readonly alt?: string };
  readonly children?: unknown;
}

const LINES = { leadingLineBreaks: 1, trailingLineBreaks: 1 };

/** The text that html-to-text makes. */
function byLibrary(html: string): string {
  return convert(html, {
    wordwrap: false,
    selectors: [
      { selector: "a", options: { hideLinkHrefIfSameAsText: true, linkBrackets: ["(", ")"] } },
      ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({
        selector,
        options: { uppercase: false },
      })),
      { selector: "img", format: "alternative" },
      { selector: "mx-reply", format: "skip" },
      { selector: "ul", options: { itemPrefix: "- " } },
      { selector: "tr", format: "block", options: LINES },
      { selector: "td", format: "cell" },
      { selector: "th", format: "cell" },
    ],
    formatters: {
      alternative: ({ attribs }: Element, _walk: Walk, builder: Builder) =>
        builder.addInline(attribs.alt ?? ""),
      cell: ({ children }: Element, walk: Walk, builder: Builder) => {
        builder.addInline("| ");
        walk(children, builder);
        builder.addInline(" ");
      },
    },
  });
}

/** The same HTML with each element closed where parsers close it: html-to-text has an older one. */
function closed(html: string): string {
  let written = "";
  const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const parser = new Parser({
    onopentag: (name, attributes) => {
      const given = Object.entries(attributes).map(([name, value]) => ` ${name}="${escaped(value)}"`);
      written += `<${name}${given.join("")}>`;
    },
    ontext: (text) => void (written += escaped(text)),
    onclosetag: (name) => void (written += /^(?:br|hr|img|wbr)$/.test(name) ? "" : `</${name}>`),
  });
  parser.end(html);
  return written;
}

const TAGS =
  ("del h1 h3 h4 blockquote p a ul ol sup li b i code hr br div table thead tr th td caption pre span " +
    "img details summary mx-reply script style x wbr article").split(" ");

const part = fc.oneof(
  fc.constantFrom(...TAGS, "li", "br").chain((tag) => fc.constantFrom(`<${tag}>`, `</${tag}>`, `<${tag}/>`)),
  fc.constantFrom(
    "word",
    " ",
    "\n",
    "two words",
    " first",
    "last ",
    "&amp;",
    "&nbsp;",
    "a\tb",
    "\u200b",
    "é",
    "x",
  ),
  fc.constantFrom(
    '<a href="https://a.b">',
    "https://a.b",
    '<a href="mailto:x">',
    '<a href="#c">',
    '<img alt="a cue">',
    '<ol start="9">',
  ),
);

Deno.test("textOfHtml() writes what html-to-text does, whatever it is given", () => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 25, size: "max" }), (parts) => {
      const html = closed(parts.join(""));
      fc.pre(!(/<pre/.test(html) && /<a /.test(html))); // it puts no space between the two
      fc.pre(!(/<[ou]l/.test(html) && /<(?:script|style|mx-reply)/.test(html))); // it leaves a line for them
      assertEquals(textOfHtml(html), byLibrary(html), html);
    }),
    { numRuns: 2_000 },
  );
});

Deno.test("textOfHtml() leaves no trace of what is hidden, and says where links in preformatted text lead", () => {
  assertEquals(textOfHtml("<ul><script>a</script><li>b</li><!-- c --></ul>"), "- b");
  assertEquals(textOfHtml('<pre>a  <a href="https://b.c">d</a></pre>'), "a  d (https://b.c)");
  assertEquals(textOfHtml("a<mx-reply><blockquote>b</blockquote></mx-reply>c"), "ac");
});

Deno.test("textOfHtml() numbers lists from their start, and from 1 if that is no number", () => {
  assertEquals(textOfHtml('<ol start="9"><li>a</li><li>b<br>c</li></ol>'), " 9.  a\n 10. b\n     c");
  assertEquals(textOfHtml('<ol start="-999999999"><li>a</li></ol>'), " -999999999. a");
  for (const start of ["x", "9".repeat(10), "9".repeat(20_000)]) {
    assertEquals(textOfHtml(`<ol start="${start}"><li>a</li></ol>`), " 1. a");
  }
});

Deno.test("textOfHtml() takes elements that lie in each other without end", () => {
  assertEquals(textOfHtml(`${"<b><p>".repeat(20_000)}deep`).trim(), "deep");
});

Deno.test("Quotes and lists that are deep inside of each other add no more marks, so that a text stays short", () => {
  const lines = "a<br>".repeat(3_000);
  for (const open of ["<blockquote>", "<ul><li>", "<ol start=1000><li>", "<blockquote><ul><li>"]) {
    const text = textOfHtml(open.repeat(1_000) + lines);
    assert(text.length < 1_000_000, `${open}: ${text.length} characters`);
    assert(text.includes("a"));
  }
  const marked = (depth: number) => textOfHtml("<blockquote>".repeat(depth) + "a").match(/> /g)?.length;
  assertEquals([marked(1), marked(20), marked(21), marked(500)], [1, 20, 20, 20]);
  // One after the other.
  assertEquals(textOfHtml("<blockquote>a</blockquote>".repeat(30)).match(/> /g)?.length, 30);
});
