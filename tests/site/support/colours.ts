/**
 * Whether texts can be told from their backgrounds. That takes axe longest, so it looks at one text of each
 * kind: of those that have the same element, class, size, colour and backgrounds.
 *
 * @module
 */

import type { Page } from "./browser.ts";

/** Has the page keep a text of each kind in `texts`, and gives the kinds in the same order. */
const KINDS = `(() => {
  for (const each of document.getAnimations()) if (each instanceof CSSTransition) each.finish();
  const backgrounds = new Map([[null, ""]]);
  const backgroundOf = (element) => {
    const known = backgrounds.get(element);
    if (known !== undefined) return known;
    const { backgroundColor, backgroundImage, opacity } = getComputedStyle(element);
    const own = [backgroundColor, backgroundImage, opacity].join();
    const all = (own === "rgba(0, 0, 0, 0),none,1" ? "" : own + " ") + backgroundOf(element.parentElement);
    backgrounds.set(element, all);
    return all;
  };
  const nameOf = (element) => element?.tagName + "." + element?.getAttribute("class");
  const isText = (element) =>
    element.matches("input, select, textarea") ||
    [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== "");
  const kinds = new Map();
  for (const element of document.body.querySelectorAll("*")) {
    if (!isText(element) || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const { color, fontSize, fontWeight, textShadow } = getComputedStyle(element);
    const style = [color, fontSize, fontWeight, textShadow, backgroundOf(element)];
    const kind = [nameOf(element.parentElement), nameOf(element), ...style].join("|");
    if (!kinds.has(kind)) kinds.set(kind, element);
  }
  globalThis.texts = [...kinds.values()];
  return [...kinds.keys()];
})()`;

/**
 * The expression that has axe look at the texts of kinds that were not looked at before; undefined if there
 * are none on this page.
 *
 * @param seen The kinds that were looked at, which takes those of the page.
 */
export async function newColours(page: Page, seen: Set<string>): Promise<string | undefined> {
  const kinds = await page.evaluate<string[]>(KINDS);
  const fresh = kinds.flatMap((kind, index) => seen.has(kind) ? [] : [index]);
  for (const kind of kinds) seen.add(kind);
  if (fresh.length === 0) return undefined;
  const include = `{ include: ${JSON.stringify(fresh)}.map((index) => texts[index]) }`;
  return `axe.run(${include}, { resultTypes: ["violations"], runOnly: ["color-contrast"] })`;
}
