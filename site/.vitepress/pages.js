/**
 * Which files of the repository are pages of the site, and the navigation over them. The navigation
 * of docs/ is the table in docs/README.md: a page that is missing there ends the build.
 */

import { posix } from "node:path";
import { kindOf, markdown, read } from "./files.js";

/** Pages beside docs/, by the group that they stand in. Results of benches are shown as plain text. */
const GROUPS = [
  ["Example bots", /^examples\/.+README\.md$/],
  ["Trust", /^(TRUST|SECURITY|SUPPLY_CHAIN)\.md$/],
  [
    "Inside",
    /^(ARCHITECTURE|CONTRIBUTING|CHANGELOG)\.md$|^(bench|src|tools|vodozemac-wasm)\/(?!RESULTS).*\.md$/,
  ],
];

/** All files that are pages, but for those of `site/`. */
export const pages = new Set([
  "README.md",
  ...markdown.filter((file) => file.startsWith("docs/") || GROUPS.some(([, pattern]) => pattern.test(file))),
]);

/** Where a page of the repository stands on the site. */
export function pagePath(file) {
  if (file === "README.md") return "readme.md";
  return file.replace(/^site\//, "").replace(/README\.md$/, "index.md")
    .replace(/^[A-Z_]+\.md$/, (name) => name.toLowerCase());
}

function item(file) {
  const text = /^# (.+)$/m.exec(read(file))?.[1].replaceAll("`", "") ?? file;
  return {
    text,
    link: `/${pagePath(file).replace(/(^|\/)index\.md$/, "$1").replace(/\.md$/, "")}`,
  };
}

/** The groups of docs/, which are the rows of the table in its README. */
function docsGroups() {
  const named = new Set(["docs/README.md", "docs/start.md"]);
  const groups = [{
    text: "First steps",
    items: [...named].reverse().map(item),
  }];
  for (
    const [, name, cell] of read("docs/README.md").matchAll(
      /^\| (.+?) *\| (\[.+?) *\|$/gm,
    )
  ) {
    const files = [...cell.matchAll(/\]\(([^)#]+)/g)].map(([, file]) => `docs/${file}`);
    for (const file of files) named.add(file);
    groups.push({
      text: name[0].toUpperCase() + name.slice(1),
      items: files.map(item),
    });
  }
  const missing = [...pages].filter((file) => file.startsWith("docs/") && !named.has(file));
  if (missing.length > 0) {
    throw new Error(
      `Cannot build the navigation: docs/README.md does not name ${missing.join(", ")}`,
    );
  }
  return groups;
}

const { name, exports } = JSON.parse(read("deno.json"));

/** The entries of the package: what is imported, and the page of `deno doc` that describes it. */
const entries = Object.keys(exports).map((entry) => ({
  text: entry.replace(".", name),
  link: entry === "." ? "/api/~/index.html" : `/api/${entry.slice(2)}/index.html`,
  target: "_self",
}));

export const sidebar = [
  ...docsGroups(),
  { text: "API reference", items: entries },
  ...GROUPS.map(([text, pattern]) => ({
    text,
    items: [...pages].filter((file) => pattern.test(file)).map(item),
  })),
];

/** Files and folders that pages link to, and that are shown as they are, with the page that does. */
export const shown = new Set(
  [...pages].flatMap((page) =>
    [...read(page).matchAll(/\]\(([^)\s#]+)/g)]
      .filter(([, link]) => !/^[a-z][a-z\d+.-]*:/i.test(link))
      .map(([, link]) => posix.join(posix.dirname(page), decodeURIComponent(link)))
      .filter((path) => !pages.has(path) && kindOf(path) !== undefined && !path.endsWith(".svg"))
  ),
);
