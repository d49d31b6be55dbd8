/**
 * The list of threats in `SECURITY.md`, made of the head comments of their tests:
 * `deno task threats` writes it.
 *
 * @module
 */

import { basename } from "node:path";
import { ROOT } from "./process.ts";

const FOLDER = "tests/crypto/threats";
const BEGIN = "<!-- Written by `deno task threats`: do not edit. -->\n<!-- deno-fmt-ignore-start -->\n";
const END = "<!-- deno-fmt-ignore-end -->";

/** A test of threats. */
export interface ThreatTest {
  /** Its path in their folder. */
  readonly path: string;
  /** What is in it. */
  readonly text: string;
}

/** The line of each threat, in the order of their numbers: what it is, and where its tests are. */
export function threatLines(tests: readonly ThreatTest[]): string[] {
  const byNumber = Map.groupBy(tests, ({ path }) => numberOf(path));
  return [...byNumber].sort(([one], [other]) => one - other).map(([number, files]) => {
    const sorted = files.toSorted((one, other) => one.path.length - other.path.length);
    const links = sorted.map(({ path }) => `[${basename(path, "_test.ts")}](${FOLDER}/${path})`);
    return `- **T${String(number).padStart(2, "0")}** ${sorted[0] && headOf(sorted[0])} ${links.join(", ")}`;
  });
}

function numberOf(path: string): number {
  return Number(/\bt(\d{2,3})(_\w+)?_test\.ts$/.exec(path)?.[1] ?? refuse(path, "is not called tNN_test.ts"));
}

/** The first sentence of a test's head comment. */
function headOf({ path, text }: ThreatTest): string {
  const comment = /^\/\*\*(.*?)\*\//s.exec(text)?.[1] ?? refuse(path, "has no comment at its head");
  const [paragraph = ""] = comment.replaceAll(/^ \*/gm, "").trim().split(/\n\s*\n/);
  const words = paragraph.replaceAll(/\s+/g, " ").replace(/^T\d+: /, "");
  const [sentence = ""] = /^.*?\.(?= |$)/.exec(words) ?? [words];
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1).replace(/\.$/, "")}.`;
}

function refuse(path: string, why: string): never {
  throw new Error(`Cannot list the threat of ${FOLDER}/${path}: it ${why}`);
}

/** The page with its list replaced. */
export function withThreats(page: string, lines: readonly string[]): string {
  const [start, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (start < 0 || end < start) throw new Error("Cannot list the threats: SECURITY.md has no place for them");
  return `${page.slice(0, start)}${BEGIN}\n${lines.join("\n")}\n\n${page.slice(end)}`;
}

/** The page as it is, and as it has to be. */
export async function securityPage(): Promise<{ written: string; due: string }> {
  const written = await Deno.readTextFile(`${ROOT}SECURITY.md`);
  const paths: string[] = [];
  for await (const folder of Deno.readDir(ROOT + FOLDER)) {
    if (!folder.isDirectory) continue;
    for await (const { name } of Deno.readDir(`${ROOT}${FOLDER}/${folder.name}`)) {
      if (name.endsWith("_test.ts")) paths.push(`${folder.name}/${name}`);
    }
  }
  const tests = paths.map(async (path) => ({
    path,
    text: await Deno.readTextFile(`${ROOT}${FOLDER}/${path}`),
  }));
  return { written, due: withThreats(written, threatLines(await Promise.all(tests))) };
}

if (import.meta.main) {
  const { due } = await securityPage();
  await Deno.writeTextFile(`${ROOT}SECURITY.md`, due);
}
