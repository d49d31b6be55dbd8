/**
 * The list of threats in `SECURITY.md`, made of the head comments of their tests: `deno task threats` writes it.
 *
 * @module
 */

import { ROOT } from "./process.ts";

const FOLDER = "tests/crypto/threats";
const BEGIN = "<!-- Written by `deno task threats`: do not edit. -->\n<!-- deno-fmt-ignore-start -->\n";
const END = "<!-- deno-fmt-ignore-end -->";

/** A test of threats. */
export interface ThreatTest {
  /** The name of its file. */
  readonly name: string;
  /** What is in it. */
  readonly text: string;
}

/** The line of each threat, in the order of their numbers: what it is, and where its tests are. */
export function threatLines(tests: readonly ThreatTest[]): string[] {
  const byNumber = Map.groupBy(tests, ({ name }) => numberOf(name));
  return [...byNumber].sort(([one], [other]) => one - other).map(([number, files]) => {
    const names = files.map(({ name }) => name).sort((one, other) => one.length - other.length);
    const main = files.find(({ name }) => name === names[0]);
    const links = names.map((name) => `[${name.replace("_test.ts", "")}](${FOLDER}/${name})`);
    return `- **T${String(number).padStart(2, "0")}** ${main && headOf(main)} ${links.join(", ")}`;
  });
}

function numberOf(name: string): number {
  return Number(/^t(\d{2,3})(_\w+)?_test\.ts$/.exec(name)?.[1] ?? refuse(name, "is not called tNN_test.ts"));
}

/** The first sentence of a test's head comment. */
function headOf({ name, text }: ThreatTest): string {
  const comment = /^\/\*\*(.*?)\*\//s.exec(text)?.[1] ?? refuse(name, "has no comment at its head");
  const [paragraph = ""] = comment.replaceAll(/^ \*/gm, "").trim().split(/\n\s*\n/);
  const words = paragraph.replaceAll(/\s+/g, " ").replace(/^T\d+: /, "");
  const [sentence = ""] = /^.*?\.(?= |$)/.exec(words) ?? [words];
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1).replace(/\.$/, "")}.`;
}

function refuse(name: string, why: string): never {
  throw new Error(`Cannot list the threat of ${FOLDER}/${name}: it ${why}`);
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
  const files = await Array.fromAsync(Deno.readDir(ROOT + FOLDER));
  const names = files.map(({ name }) => name).filter((name) => name.endsWith("_test.ts"));
  const tests = names.map(async (name) => ({
    name,
    text: await Deno.readTextFile(`${ROOT}${FOLDER}/${name}`),
  }));
  return { written, due: withThreats(written, threatLines(await Promise.all(tests))) };
}

if (import.meta.main) {
  const { due } = await securityPage();
  await Deno.writeTextFile(`${ROOT}SECURITY.md`, due);
}
