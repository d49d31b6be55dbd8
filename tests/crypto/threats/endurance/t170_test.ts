/**
 * T170: A text for which a regular expression takes longer than its length: 50,000 spaces and a letter stop a
 * bot for half a minute. Each expression of the sources is analysed, and run on 100 kB of what is hostile to
 * it; those that are made while the program runs are known.
 *
 * Class of mistake: a repetition that can begin anywhere in what it has just gone through.
 */

import { assert, assertEquals } from "@std/assert";
import { readdirSync } from "node:fs";
import { analyse } from "scslre";
import { closeMarkdown, escapeMarkdown, formatMarkdown, readText } from "@greenroom/matrix/bot";
import { expressionsOf, hostileTexts } from "../../../support/regular_expressions.ts";

/** Of 100 kB. What is linear takes less than one. */
const LIMIT_MS = 50;
const LENGTH = 100_000;

/** Those that are made while the program runs, and what bounds them. */
const MADE = [
  "src/appservice/own_users.ts", // the registration's, on IDs of users
  "src/appservice/registration.ts", // made to see whether it can be, and not used
  "src/base/platform/tagged_codec.ts", // values that the application has stored, made and not used
  "src/testing/server/appservices.ts", // the registration's, in tests
];

const ROOT = new URL("../../../../", import.meta.url).pathname;
const paths = readdirSync(`${ROOT}src`, { recursive: true, encoding: "utf8" }).filter((path) =>
  path.endsWith(".ts")
).sort();
const all = paths.flatMap((path) =>
  expressionsOf(`src/${path}`, Deno.readTextFileSync(`${ROOT}src/${path}`))
);
const literals = all.flatMap(({ place, text, regExp }) =>
  regExp === undefined ? [] : [{ place, text, regExp }]
);

/** The shortest of some runs, so that a busy machine changes nothing. */
function shortest(run: () => void): number {
  let best = Infinity;
  for (let count = 0; count < 5 && best > LIMIT_MS; count++) {
    const start = performance.now();
    run();
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

Deno.test("T170: no regular expression has a part that takes more than linear time", () => {
  assert(literals.length > 200);
  const slow = literals.filter(({ regExp }) => analyse(regExp).reports.length > 0);
  assertEquals(slow.map(({ place, text }) => `${place} ${text}`), []);
});

Deno.test("T170: each regular expression goes through 100 kB of hostile text within 50 ms", () => {
  const slow: string[] = [];
  for (const { place, text, regExp } of literals) {
    const everywhere = new RegExp(regExp, `${regExp.flags.replace("g", "")}g`);
    for (const hostile of hostileTexts(regExp, LENGTH)) {
      if (shortest(() => hostile.replace(everywhere, "")) < LIMIT_MS) continue;
      slow.push(`${place} ${text}: ${JSON.stringify(hostile.slice(0, 40))}`);
      break;
    }
  }
  assertEquals(slow, []);
});

Deno.test("T170: regular expressions that are made while the program runs are known", () => {
  const made = all.filter(({ regExp }) => regExp === undefined).map(({ place }) =>
    place.replace(/:\d+$/, "")
  );
  assertEquals(made, MADE);
});

Deno.test("T170: the check finds what is quadratic, by its form and by its time", () => {
  for (const regExp of [/\s*\n\s*/, /<[^>]*>/g, /^\|?[ \t]*-+[ \t]*(?:\|[ \t]*-+[ \t]*)*[ \t]*$/]) {
    assert(analyse(regExp).reports.length > 0, String(regExp));
  }
  const quadratic = /(?:https?:\/\/[^\s?#()]*)[?#]/g;
  assert([...hostileTexts(quadratic, 5_000)].some((text) => {
    const start = performance.now();
    text.repeat(4).replace(quadratic, "");
    return performance.now() - start > 1;
  }));
});

Deno.test("T170: texts that others write are formatted, closed and read in linear time", async () => {
  for (
    const text of [
      `a${" ".repeat(50_000)}a`,
      "|-".repeat(30_000),
      `-${"\t".repeat(50_000)}-`,
      "<".repeat(60_000),
    ]
  ) {
    const start = performance.now();
    await formatMarkdown(escapeMarkdown(text));
    closeMarkdown(`${text}\n${text}`);
    readText({ msgtype: "m.text", body: text });
    assert(performance.now() - start < 5_000);
  }
});
