/** What the first page shows of README: the claim, the bot in four lines, and what sets it apart. */

// @ts-ignore: Deno does not know the packages of this folder, which npm installs
import { createMarkdownRenderer } from "vitepress";
import config from "../config.js";
import { read, ROOT } from "../files.js";

function section(text, heading) {
  const found = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`));
  if (found === undefined) {
    throw new Error(
      `Cannot make the first page: README has no section "${heading}"`,
    );
  }
  return found.slice(heading.length).trim();
}

export default {
  watch: ["../../../README.md"],
  async load() {
    const readme = read("README.md");
    const md = await createMarkdownRenderer(ROOT, config.markdown, "/");
    const render = (text) => md.render(text, { path: `${ROOT}README.md` });
    const [, claim] = /^# .+\n\n([^]+?)\n\n/.exec(readme);
    const bot = section(readme, "A bot in four lines");
    const rows = section(readme, "What sets it apart").matchAll(
      /^\| (.+?) *\| (\[.+?\)) *\|$/gm,
    );
    return {
      claim: md.renderInline(claim, { path: `${ROOT}README.md` }),
      bot: await render(bot.slice(bot.indexOf("```"))),
      commands: await render(
        /```sh[^]+?```/.exec(section(readme, "Four commands"))[0],
      ),
      apart: [...rows].map(([, what, more]) => ({
        what: md.renderInline(what, { path: `${ROOT}README.md` }),
        more: md.renderInline(more, { path: `${ROOT}README.md` }),
      })),
    };
  },
};
