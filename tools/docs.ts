/**
 * Looks after the documentation: `deno task docs` writes the pages that are made of the code, and lists links
 * that lead nowhere, sentences that are too long, and words to avoid.
 *
 * @module
 */

import { ERRORS_PAGE, errorsPageToday } from "./docs/errors.ts";
import { brokenLinks } from "./docs/links.ts";
import { readPages } from "./docs/pages.ts";
import { proseFindings } from "./docs/prose.ts";
import { ROOT } from "./process.ts";

if (import.meta.main) {
  const { written, wanted } = await errorsPageToday();
  if (written !== wanted) await Deno.writeTextFile(`${ROOT}${ERRORS_PAGE}`, wanted);
  const pages = await readPages();
  for (const link of await brokenLinks(pages)) console.log(link);
  for (const [path, text] of pages) {
    if (Deno.args.length > 0 && !Deno.args.some((part) => path.includes(part))) continue;
    for (const finding of proseFindings(text)) console.log(`${path}: ${finding}`);
  }
}
