/**
 * The site reads the pages where they stand in the repository, so that there are no copies of texts:
 * the folder of sources is the root, and each page is given its place by `pagePath()`.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, posix } from "node:path";
import { kindOf, markdown, namesIn, read, ROOT } from "./files.js";
import { pagePath, pages, shown, sidebar } from "./pages.js";

/** The heading of a page as an anchor, as GitHub makes it. */
function slugify(heading) {
  return heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, "").replaceAll(
    /\s/g,
    "-",
  );
}

/** Leads a link to the page or the file on the site, from where the page stands in the repository. */
function siteLink(link, page) {
  if (/^([a-z][a-z\d+.-]*:|[#/])/i.test(link)) return link;
  const [path, anchor] = link.split("#");
  const target = posix.join(posix.dirname(page), decodeURIComponent(path));
  const hash = anchor === undefined ? "" : `#${anchor}`;
  if (pages.has(target)) return `/${pagePath(target)}${hash}`;
  return shown.has(target) ? filePath(target) : link;
}

/** Where a file or a folder is shown as plain text. */
function filePath(path) {
  return `/file/${path.replace(/\/$/, "")}.txt`;
}

/**
 * Copies the files that pages link to, so that the site needs no other;
 * a folder becomes the list of its names.
 */
function showFiles({ outDir }) {
  for (const path of shown) {
    const target = outDir + filePath(path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(
      target,
      kindOf(path) === "file" ? read(path) : `${namesIn(path).join("\n")}\n`,
    );
  }
}

/** Links of Markdown, which are those of the repository, become links of the site. */
function linksOfSite(md) {
  md.core.ruler.push("links_of_site", ({ tokens, env }) => {
    const file = env?.realPath ?? env?.path;
    if (file === undefined) return; // of a title, which has no links
    const page = posix.relative(ROOT, file);
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type === "link_open") {
        token.attrSet("href", siteLink(token.attrGet("href"), page));
      }
    }
  });
}

/** Tables and pictures that are wider than a phone scroll by themselves, by keys too. */
function wideParts(md) {
  md.renderer.rules.table_open = () =>
    '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>\n';
  md.renderer.rules.table_close = () => "</table></div>\n";
  for (const name of ["th_open", "th_close"]) {
    md.renderer.rules[name] = (tokens, index, options, _env, self) => {
      const content = tokens[index + (name === "th_open" ? 1 : -1)].content;
      if (content === "") tokens[index].tag = "td"; // a heading without a text is none
      return self.renderToken(tokens, index, options);
    };
  }
  const image = md.renderer.rules.image;
  md.renderer.rules.image = (tokens, index, ...rest) => {
    const picture = image(tokens, index, ...rest);
    if (!tokens[index].attrGet("src").endsWith(".svg")) return picture;
    return `<span class="wide picture" tabindex="0" role="group" aria-label="Picture">${picture}</span>`;
  };
}

/**
 * Pages outside of `site/` have no `node_modules` above them: while pages are rendered, Node resolves Vue.
 */
const vueOfSite = {
  name: "vue-of-site",
  enforce: "pre",
  resolveId(id, _importer, { ssr }) {
    return ssr && /^vue($|\/)/.test(id) ? { id, external: true } : undefined;
  },
};

export default {
  title: "Greenroom",
  description: "The Matrix client SDK for Deno",
  lang: "en",
  srcDir: ROOT,
  outDir: "./dist",
  srcExclude: [
    ...["third_party", "tests", "coverage", "site/node_modules", "site/dist"]
      .map((name) => `${name}/**`),
    ...["site/README.md", ...markdown.filter((file) => !pages.has(file))],
  ],
  rewrites: pagePath,
  lastUpdated: false,
  markdown: {
    anchor: { slugify },
    theme: {
      light: "github-light-high-contrast",
      dark: "github-dark-high-contrast",
    },
    config(md) {
      linksOfSite(md);
      wideParts(md);
    },
  },
  buildEnd: showFiles,
  shouldPreload: (link) => !link.includes("/chunks/esm."), // sucrase, for the first run in the playground
  vite: {
    plugins: [vueOfSite],
  },
  themeConfig: {
    search: { provider: "local" },
    outline: { level: [2, 3] },
    nav: [
      { text: "Get started", link: "/docs/start" },
      { text: "Documentation", link: "/docs/" },
      { text: "Playground", link: "/playground" },
      { text: "API", link: "/api/index.html", target: "_self" },
    ],
    sidebar,
  },
};
