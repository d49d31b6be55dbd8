import { assertEquals } from "@std/assert";
import { ROOT } from "../../tools/process.ts";

/** What a device that its user has verified has to withstand, by threats and by crash points. */
const NUMBERS = [
  ...["T18", "T19", "T20", "T21", "T22", "T23", "T24", "T25"],
  ...[
    "T46",
    "T47",
    "T48",
    "T49",
    "T50",
    "T51",
    "T52",
    "T53",
    "T54",
    "T55",
    "T56",
    "T57",
    "T58",
    "T59",
    "T60",
  ],
  ...["C16", "C17", "C18", "C19", "C20", "C21", "C25", "C26"],
];

/** What the tests of a file are called. */
function namesIn(text: string): string[] {
  const calls = text.matchAll(/\bDeno\.test\(\s*(?:\{\s*name:\s*)?(["`])(.*?)\1/gs);
  return [...calls].map(([, , name = ""]) => name);
}

/** What the tests are called that need nothing but this process. */
async function testNames(folder: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) names.push(...name === "e2e" ? [] : await testNames(path));
    else if (name.endsWith("_test.ts")) names.push(...namesIn(await Deno.readTextFile(path)));
  }
  return names;
}

Deno.test("Each threat to a verified device, and each point at which it may crash, has a test with its number", async () => {
  const names = (await testNames(`${ROOT}tests`)).join("\n");
  assertEquals(NUMBERS.filter((number) => !new RegExp(String.raw`\b${number}\b`).test(names)), []);
});

Deno.test("A number in a comment, or beside a test, names no test", () => {
  const text = "Deno.test(`T200 C201: with ${way}`, () => {});\n/** T202 */\nDeno.test({\n  name: 'T203' });";
  assertEquals(namesIn(`${text.replaceAll("'", '"')}\nconst id = "T204";`), [
    "T200 C201: with ${way}",
    "T203",
  ]);
});
