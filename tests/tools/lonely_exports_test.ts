import { assertEquals } from "@std/assert";
import { lonelyExports } from "../../tools/structure/lonely_exports.ts";
import { namesOfAll } from "../../tools/structure/names.ts";

/** What the check says of sources, when `mod.ts` is the only entry. */
function lonely(texts: Record<string, string>): string[] {
  return lonelyExports(namesOfAll(Object.entries(texts).map(([path, text]) => ({ path, text }))), ["mod.ts"]);
}

const CLEAR = "export const wash = 1; export function rinse() { return wash; }";

Deno.test("lonelyExports() names what only its own file uses, and what nobody does", () => {
  assertEquals(lonely({ "src/a.ts": CLEAR, "src/b.ts": `import { rinse } from "./a.ts"; rinse();` }), [
    "src/a.ts: exports what no other file imports: wash; keep it to the file",
  ]);
  assertEquals(lonely({ "src/a.ts": CLEAR, "src/b.ts": `import "./a.ts";` }), [
    "src/a.ts: exports what no other file imports: wash, rinse; keep it to the file",
  ]);
});

Deno.test("lonelyExports() does not take a re-export or a name of another file for a use", () => {
  const files = { "src/a.ts": "export const wash = 1;", "src/mod.ts": `export { wash } from "./a.ts";` };
  assertEquals(lonely({ ...files, "src/b.ts": "const wash = 2; export {};" }), [
    "src/a.ts: exports what no other file imports: wash; keep it to the file",
    "src/mod.ts: exports what no other file imports: wash; keep it to the file",
  ]);
  assertEquals(lonely({ ...files, "tests/a_test.ts": `import { wash } from "../src/mod.ts";` }), []);
  assertEquals(lonely({ ...files, "mod.ts": `export { wash as clean } from "./src/mod.ts";` }), []);
  assertEquals(lonely({ ...files, "mod.ts": `export * from "./src/mod.ts";` }), []);
});

Deno.test("lonelyExports() takes each way to import for a use", () => {
  for (
    const line of [
      `import { wash as w, rinse } from "../src/a.ts";`,
      `import * as all from "../src/a.ts";`,
      `const { wash, rinse: r } = await import("../src/a.ts");`,
      `const w = (await import("../src/a.ts")).wash; import { rinse } from "../src/a.ts";`,
      `import("../src/a.ts").then(({ wash, rinse }) => wash + rinse());`,
      `const load = () => import("../src/a.ts");`,
      `type W = typeof import("../src/a.ts").wash; import { rinse } from "../src/a.ts";`,
    ]
  ) assertEquals(lonely({ "src/a.ts": CLEAR, "tests/a_test.ts": line }), [], line);
});

Deno.test("lonelyExports() lets types stay that the signature of a used name mentions", () => {
  const use = { "mod.ts": `export { Tub } from "./src/a.ts";` };
  const source = (member: string) =>
    `export interface Soap { brand: Brand } export type Brand = string; export class Tub { ${member} }`;
  assertEquals(lonely({ ...use, "src/a.ts": source("fill(soap: Soap): void {}") }), []);
  for (const hidden of ["#soap?: Soap;", "private soap?: Soap;", "fill(): void { let soap: Soap; }"]) {
    assertEquals(lonely({ ...use, "src/a.ts": source(hidden) }), [
      "src/a.ts: exports what no other file imports: Soap, Brand; keep it to the file",
    ], hidden);
  }
});
