import { assert, assertEquals } from "@std/assert";
import { VARIABLES } from "../../src/bot/env.ts";
import { InternalEventType } from "@greenroom/matrix/types";
import accepted from "../../tools/docs/accepted.json" with { type: "json" };
import { errorDocs, errorsPageToday } from "../../tools/docs/errors.ts";
import { exportedSymbols } from "../../tools/docs/exported.ts";
import { brokenLinks } from "../../tools/docs/links.ts";
import { readPage } from "../../tools/docs/markdown.ts";
import { missingOptions } from "../../tools/docs/options.ts";
import { readPages } from "../../tools/docs/pages.ts";
import { proseFindings } from "../../tools/docs/prose.ts";

const pages = await readPages();
const guides = [...pages].filter(([path]) => path.startsWith("docs/"));
/** What the table of habits calls things of the reader's, and of the language. */
const LOCAL = new Set(["bot", "c", "client", "appservice", "tester", "crypto", "event", "await", "new"]);
const page = (path: string): string => pages.get(path) ?? "";

Deno.test("Each link between pages leads to a file and a heading that are there", async () => {
  assertEquals(await brokenLinks(pages), []);
});

Deno.test("A link that leads nowhere is found: to a file, to a heading, to one on another page", async () => {
  const broken = await brokenLinks(
    new Map([
      [
        "README.md",
        "# A\n\n[a](#a) [b](#b) [c](docs/nowhere.md) [d](docs/README.md#e) [f](https://example.org)",
      ],
      ["docs/README.md", "# D\n\n[up](../README.md#a) ![picture](none.svg)"],
    ]),
  );
  assertEquals(broken, [
    "README.md: #b: there is no such heading",
    "README.md: docs/nowhere.md: there is no such file",
    "README.md: docs/README.md#e: there is no such heading",
    "docs/README.md: none.svg: there is no such file",
  ]);
});

Deno.test("Headings have the anchors that GitHub gives them", () => {
  const { anchors } = readPage('# `bot.on()`, and more\n\n## Twice\n\n## Twice\n\n<a id="own"></a>');
  assertEquals([...anchors], ["boton-and-more", "twice", "twice-1", "own"]);
  assertEquals([...readPage('| <a id="own"></a> |\n| --- |').anchors], ["own"]);
});

Deno.test("README and the pages of docs/ have no long sentence, and no word to avoid", () => {
  const found = [...pages].filter(([path]) => path === "README.md" || path.startsWith("docs/"))
    .flatMap(([path, text]) => proseFindings(text).map((finding) => `${path}: ${finding}`));
  assertEquals(found, []);
});

Deno.test("Other pages have no more long sentences and words to avoid than they had", () => {
  const others = [...pages].filter(([path]) => path !== "README.md" && !path.startsWith("docs/"));
  const found = Map.groupBy(
    others.flatMap(([path, text]) => proseFindings(text).map((finding) => `${path}: ${finding}`)),
    (finding) => /^[^/:]+(?=\/)/.exec(finding)?.[0] ?? ".",
  );
  const most: Readonly<Record<string, number>> = accepted;
  for (const [folder, lines] of found) {
    assert(lines.length <= (most[folder] ?? 0), `${folder} has ${lines.length}:\n${lines.join("\n")}`);
  }
});

Deno.test("A sentence of 31 words, and words to avoid, are found with their line; code counts as one word", () => {
  const long = "word ".repeat(31).trim();
  assertEquals(proseFindings(`# Title\n\nShort. ${long[0]?.toUpperCase()}${long.slice(1)}.\n`).length, 1);
  assertEquals(proseFindings(`${"word ".repeat(30).trim()}. Word.`), []);
  assertEquals(proseFindings(`\`${long}\`\n\n\`\`\`\n${long}\n\`\`\``), []);
  for (
    const words of ["Whoever reads", "it does what is due", "nobody is told by it", "a lane", "it knocks"]
  ) {
    assertEquals(proseFindings(`Title\n\n- ${words}.`).length, 1, words);
  }
  assertEquals(proseFindings("The join rule `knock`: users knock on a room."), []);
});

Deno.test("The page of errors is what `deno task docs` writes, and each error says what to do", async () => {
  const { written, wanted } = await errorsPageToday();
  assert(written === wanted, "docs/reference/errors.md is not up to date: run deno task docs");
  assertEquals((await errorDocs()).filter(({ mend }) => mend === "").map(({ name }) => name), []);
});

Deno.test("Each option of clients, bots and what they do stands on its page, with its default", async () => {
  assertEquals(await missingOptions(pages), []);
  const other = page("docs/stores.md").replaceAll("`held`", "").replaceAll("15,000", "20,000");
  assertEquals(await missingOptions(new Map([...pages, ["docs/stores.md", other]])), [
    "docs/stores.md: does not say the default 15,000 of duration, of ClientLeaseOptions",
    "docs/stores.md: says nothing of held, of ClientLeaseOptions",
  ]);
});

Deno.test("Each variable that a bot reads is on its page, and no other", () => {
  const said = [...page("docs/reference/variables.md").matchAll(/^\| `([A-Z_]+)`/gm)].map(([, name]) => name);
  assertEquals(said.sort(), [...Object.keys(VARIABLES), "DENO_KV_ACCESS_TOKEN"].sort());
});

Deno.test("Each query of the kit, and each event of Greenroom's own, is on its page, and no other", async () => {
  const queries = (await exportedSymbols()).find(({ name }) => name === "Queries")?.members ?? [];
  const rows = [...page("docs/reference/events.md").matchAll(/^\| (`.*?`) +\|/gm)].map(([, names]) => names);
  const said = rows.flatMap((names = "") => names.split(", ").map((name) => name.replaceAll("`", "")));
  const known = [...queries.map(({ name }) => name.replaceAll('"', "")), ...Object.values(InternalEventType)];
  assertEquals(said.sort(), known.sort());
});

Deno.test("Each page of docs/ is reached from docs/README.md, says for whom it is, and what to do if it goes wrong", () => {
  const reached = new Set(readPage(page("docs/README.md")).links.map((link) => `docs/${link.split("#")[0]}`));
  for (const [path, text] of guides) {
    if (path === "docs/README.md") continue;
    assert(reached.has(path), `docs/README.md has no link to ${path}`);
    const first = readPage(text).paragraphs[1]?.text ?? "";
    assert(first.startsWith("For "), `${path} does not begin with whom it is for: ${first}`);
    if (/errors|internals/.test(path)) continue;
    assert(text.includes("\n## When it goes wrong\n"), `${path} does not say what to do when it goes wrong`);
  }
});

Deno.test("What one writes out of habit is answered by names that the API has", async () => {
  const rows = [...page("docs/migration/guesses.md").matchAll(/^\| `.*? \| (.*) \|$/gm)];
  assert(rows.length >= 100, `it has ${rows.length} rows`);
  const entries = [...Deno.readDirSync("tools/api")].map(({ name }) =>
    Deno.readTextFile(`tools/api/${name}`)
  );
  const known = new Set((await Promise.all(entries)).flatMap((text) => text.match(/\w+/g) ?? []));
  const queries = new Set((await Promise.all(entries)).flatMap((text) => text.match(/"[^"\s]+"/g) ?? []));
  const unknown = rows.flatMap(([, here = ""]) =>
    [...here.matchAll(/`(.+?)`/g)].flatMap(([, code = ""]) => [
      ...(code.match(/"[^"\s]+"/g) ?? []).filter((name) => !queries.has(name)),
      ...(code.replaceAll(/"[^"]*"/g, "").match(/(?<=\.|^)[A-Za-z_]+|[A-Z]\w+|(?<=\{ |, )\w+/g) ?? [])
        .filter((name) => !LOCAL.has(name) && !known.has(name)),
    ])
  );
  assertEquals(unknown, []);
});

Deno.test("What follows proposals to Matrix is tagged as experimental: polls, descriptions of commands, dehydrated devices", async () => {
  const unstable =
    /poll|Dehydrated(?!Outcome)|^(COMMAND_DESCRIPTION|Argument(Kind|Description)|CommandState|StructuredCommand)$/i;
  const found = (await exportedSymbols()).flatMap((symbol) => [
    symbol,
    ...symbol.members.filter(({ kind }) => kind === "method"),
    ...(symbol.name === "Queries" ? symbol.members : []),
  ]).filter(({ name, kind }) => unstable.test(name) && kind !== "moduleDoc");
  assert(found.length > 30, `it finds ${found.length}`);
  const untagged = found.filter(({ jsDoc }) => !jsDoc?.tags?.some(({ kind }) => kind === "experimental"));
  assertEquals(untagged.map(({ name }) => name), []);
});

Deno.test("README has at most 120 lines", () => {
  const lines = page("README.md").trimEnd().split("\n").length;
  assert(lines <= 120, `it has ${lines}`);
});

Deno.test("The README of each example is one screen, with a talk and a command", async () => {
  const found: string[] = [];
  for (const folder of ["examples", "examples/bots"]) {
    for await (const { name, isDirectory } of Deno.readDir(folder)) {
      const path = `${folder}/${name}/README.md`;
      if (!isDirectory || path === "examples/bots/README.md") continue;
      found.push(path);
      const text = page(path);
      const lines = text.trimEnd().split("\n").length;
      assert(lines <= 40, `${path} has ${lines} lines`);
      for (const block of ["console", "sh"]) {
        assert(text.includes(`\n\`\`\`${block}\n`), `${path}: no ${block}`);
      }
    }
  }
  assert(found.length >= 8, `there are ${found.length}`);
});
