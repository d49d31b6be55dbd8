/**
 * The reference of the site: what `deno doc --html` writes of all entries, under the site's own
 * navigation and in its colours.
 *
 * @module
 */

import denoJson from "../../deno.json" with { type: "json" };
import { ROOT } from "../process.ts";

const STYLE = new URL("reference.css", import.meta.url);
const THEME = new URL("reference_theme.js", import.meta.url);

/** What users write to import an entry, by the name that `deno doc` has for it. */
const specifiers = new Map(
  Object.keys(denoJson.exports).map((entry) => [
    entry === "." ? "default" : entry.slice(2),
    denoJson.name + entry.slice(1),
  ]),
);

/** Writes the reference into a folder. */
export async function writeReference(folder: string): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["doc", "--html", "--name=Greenroom", `--output=${folder}`, ...Object.values(denoJson.exports)],
    cwd: ROOT,
    stdout: "null",
  }).output();
  if (!success) throw new Error(`Cannot write the reference: ${new TextDecoder().decode(stderr)}`);
  await Deno.copyFile(STYLE, `${folder}site.css`);
  await Deno.copyFile(THEME, `${folder}darkmode_toggle.js`);
  await dress(folder, "");
}

/** Gives all pages of a folder the site's head, at the depth where they stand. */
async function dress(folder: string, path: string): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(folder + path)) {
    if (isDirectory) await dress(folder, `${path}${name}/`);
    else if (name.endsWith(".html")) {
      const page = await Deno.readTextFile(folder + path + name);
      await Deno.writeTextFile(folder + path + name, dressed(page, path));
    }
  }
}

const SVG_OF_ANCHOR = /(<a [^>]*class="anchor"[^>]*>)<svg[^]*?<\/svg>\s*(?=<\/a>)/g;
const SOURCE_BUTTON = /<a\s+class="sourceButton"[^]*?<\/a>/g;
const BREADCRUMBS = /<ul class="breadcrumbs">[^]*?<\/ul>(?=\s*<\/div>)/;
const TITLE = '<div class="text-2xl leading-none break-all">';

/**
 * One page with the site's head. Buttons that lead to the source are taken out: they name the folder
 * of the machine that wrote the page. What keyboards and screen readers lack is added.
 *
 * @param path The folder where it stands, from that of the reference.
 */
export function dressed(page: string, path: string): string {
  const entry = path.replace(/\/?~\/$|\/$/, "") || "default";
  const specifier = specifiers.get(entry) ?? denoJson.name;
  const up = "../".repeat(path.split("/").length - 1);
  const heading = page.includes(TITLE) ? "" : `<h1>${specifier}</h1>`;
  return page
    .replace("<html>", '<html lang="en">')
    .replace(/<title>([^]*?)<\/title>/, (_, title: string) => `<title>${titleOf(title)}</title>`)
    .replace("</head>", `${description(specifier)}<link rel="stylesheet" href="${up}site.css"></head>`)
    .replace('<nav id="topnav">', `${siteHead(up, entry)}<nav id="topnav" aria-label="Reference">`)
    .replace(
      BREADCRUMBS,
      (crumbs) =>
        crumbs.replaceAll(/(?<=<\/?)ul/g, "div").replaceAll(/(?<=<\/?)li\b/g, "span")
          .replaceAll(/(?<=>)default(?=<)/g, denoJson.name),
    )
    .replace(TITLE, TITLE.replace(">", ' role="heading" aria-level="1">'))
    .replace("<main>", `<main>${heading}`)
    .replace('<div class="toc">', '<div class="toc" role="complementary" aria-label="On this page">')
    .replace('<nav class="topSymbols"', '<nav aria-label="Symbols" class="topSymbols"')
    .replace('<nav class="documentNavigation"', '<nav aria-label="Sections" class="documentNavigation"')
    .replaceAll(SOURCE_BUTTON, "")
    .replaceAll(SVG_OF_ANCHOR, "$1#")
    .replaceAll('<button class="copyButton"', '<button aria-label="Copy" class="copyButton"')
    .replaceAll('<code class="language-', '<code tabindex="0" class="language-')
    .replaceAll(/(?<=from &quot;)(?:[./]*|[a-z/]+)(?=&quot;)/g, specifier);
}

function description(specifier: string): string {
  return `<meta name="description" content="The reference of ${specifier}, of Greenroom, the Matrix client SDK for Deno">`;
}

function titleOf(title: string): string {
  return title.replace(" documentation", "").replace("- default -", `- ${denoJson.name} -`);
}

/** The links of the site's pages, and of all entries. */
function siteHead(up: string, entry: string): string {
  const entries = [...specifiers].map(([name, specifier]) => {
    const link = `${up}${name === "default" ? "all_symbols.html" : `${name}/index.html`}`;
    return `<a href="${link}"${name === entry ? ' aria-current="true"' : ""}>${specifier}</a>`;
  });
  return `<header class="site"><nav aria-label="Site">
  <a class="home" href="${up}../index.html">Greenroom</a>
  <a href="${up}../docs/start.html">Get started</a>
  <a href="${up}../docs/index.html">Documentation</a>
  <a href="${up}../playground.html">Playground</a>
  <a href="${up}index.html">API</a>
</nav><nav class="entries" aria-label="Entries">
  ${entries.join("\n  ")}
</nav></header>`;
}
