import { assert, assertEquals } from "@std/assert";
import { boundsRows, checkBounds, collectionsIn } from "../../tools/structure/bounds.ts";

const ROOT = new URL("../../", import.meta.url);

/** The files of a folder; the text of those that are looked into. */
async function filesBelow(folder: string): Promise<{ path: string; text: string }[]> {
  const found: { path: string; text: string }[] = [];
  for await (const { name, isDirectory } of Deno.readDir(new URL(folder, ROOT))) {
    const path = `${folder}/${name}`;
    if (isDirectory) found.push(...await filesBelow(path));
    else if (name.endsWith(".ts")) {
      const isRead = path.startsWith("src/");
      found.push({ path, text: isRead ? await Deno.readTextFile(new URL(path, ROOT)) : "" });
    }
  }
  return found;
}

Deno.test("Every collection of the sources has a row that says what bounds it, and each row a collection and a test", async () => {
  const files = [...await filesBelow("src"), ...await filesBelow("tests")];
  const table = await Deno.readTextFile(new URL("tools/structure/bounds.md", ROOT));
  assertEquals(checkBounds(files, table), []);
  assert(boundsRows(table).length > 100);
});

const SOURCE = `
const known = new Set<string>();
const FIXED = new Set(["a"]);
export class Kept {
  readonly #byName = new Map<string, number>();
  #later: Map<string, number> | undefined;
  #list: string[] = [];
  readonly #names: readonly string[] = [];
  #count = 0;
  #open = 0;
  end(): void {
    this.#open--;
  }
  add(name: string): void {
    known.add(name);
    this.#open++;
    const local = new Map([[name, ++this.#count]]);
    this.#list.push(name, ...this.#names, String(local.size));
  }
}
export function collector(names: string[]) {
  const kept: string[] = [];
  const atOnce: string[] = [];
  names.forEach((name) => atOnce.push(name));
  return (name: string) => kept.push(name, ...atOnce);
}
`;
const FILES = [{ path: "src/a/kept.ts", text: SOURCE }, { path: "tests/a/kept_test.ts", text: "" }];

Deno.test("Fields, modules and kept locals that are added to, and what counts, are found; locals of a call and fixed ones are not", () => {
  assertEquals(collectionsIn(FILES), [
    { file: "src/a/kept.ts", owner: "module", names: ["known"] },
    { file: "src/a/kept.ts", owner: "Kept", names: ["#byName", "#later", "#list", "#count", "#open"] },
    { file: "src/a/kept.ts", owner: "collector", names: ["kept"] },
  ]);
});

Deno.test("A collection without a row, a row without a collection, and a row without a test are found", () => {
  const row = (owner: string, names: string, bound: string, test: string) =>
    `| \`kept.ts\` ${owner} | ${names} | ${bound} | ${test} |`;
  const table = (...rows: string[]) => ["## `src/a`", ...rows].join("\n");
  const whole = row(
    "Kept",
    "`#byName`, `#later`, `#list`, `#count`, `#open`",
    "ten names",
    "`tests/a/kept_test.ts`",
  );
  const ofModule = row("module", "`known`", "as long as the process", "");
  const ofFunction = row("collector", "`kept`", "one call", "");
  assertEquals(checkBounds(FILES, table(whole, ofModule, ofFunction)), []);
  assertEquals(boundsRows(table(whole))[0]?.test, "tests/a/kept_test.ts");
  const problems = (...rows: string[]) => checkBounds(FILES, table(ofFunction, ...rows)).length;
  assertEquals(problems(whole), 1);
  assertEquals(problems(whole, row("module", "`known`, `gone`", "one call", "")), 1);
  assertEquals(problems(whole, row("module", "`known`", "ten names", "")), 1);
  assertEquals(problems(whole, row("module", "`known`", "ten names", "`tests/a/gone_test.ts`")), 1);
});
