import { assertEquals } from "@std/assert";
import plugin from "../../tools/lint_plugin.ts";

const root = new URL("../../", import.meta.url).pathname;

/** The rules that a file of the repository breaks. */
function broken(path: string, source: string): string[] {
  return Deno.lint.runPlugin(plugin, root + path, source).map(({ id }) => id.replace("greenroom/", ""));
}

const cases: { rule: string; refused: string[]; accepted: string[] }[] = [
  {
    rule: "error-message",
    refused: [
      `new ValueError("Cannot join: there is no room.")`,
      `new ValueError("cannot join")`,
      "new ValueError(`no room ${id}`)",
      "new errors.ValueError(`Cannot join ${id}: there is no room.`)",
    ],
    accepted: [
      `new ValueError("Cannot join: there is no room")`,
      "new ValueError(`${action} is not possible`)",
      "new ValueError(message)",
      `new Sentence("lower case.")`,
    ],
  },
  {
    rule: "no-ambient",
    refused: ["Date.now()", "Math.random()", "setTimeout(f, 1)", "setInterval(f, 1)", "new Date()"],
    accepted: ["clock.now()", "new Date(0)", "Math.max(1, 2)", "clearTimeout(1)"],
  },
  {
    rule: "no-console",
    refused: [`console.log("here")`, `const log = console.error`],
    accepted: [`log.info("here")`],
  },
  {
    rule: "no-default-export",
    refused: ["export default function f() {}", "export default 1"],
    accepted: ["export function f() {}"],
  },
  {
    rule: "no-plain-error",
    refused: [`throw new Error("Cannot do it")`, `throw Error("Cannot do it")`],
    accepted: [`throw new ValueError("Cannot do it")`, "error instanceof Error"],
  },
  {
    rule: "no-spread-push",
    refused: ["list.push(...others)", "this.#list.unshift(first, ...others)", "list.splice(0, 1, ...others)"],
    accepted: ["list.push([...others])", "list.push({ ...other })", "list = list.concat(others)"],
  },
];

for (const { rule, refused, accepted } of cases) {
  Deno.test(`lint rule ${rule} refuses what it is for in the product`, () => {
    for (const source of refused) assertEquals(broken("src/api/some.ts", source), [rule], source);
    for (const source of refused) assertEquals(broken("mod.ts", source), [rule], source);
  });

  Deno.test(`lint rule ${rule} accepts what looks alike`, () => {
    for (const source of accepted) assertEquals(broken("src/api/some.ts", source), [], source);
  });

  Deno.test(`lint rule ${rule} leaves tests and tools alone`, () => {
    for (const source of refused) assertEquals(broken("tests/api/some_test.ts", source), [], source);
    for (const source of refused) assertEquals(broken("tools/src/some.ts", source), [], source);
  });
}

Deno.test("lint rule no-ambient allows the clock to read the time", () => {
  assertEquals(broken("src/base/clock.ts", "Date.now()"), []);
});

const WIDE = "word ".repeat(25);

for (const path of ["src/api/some.ts", "tests/api/some_test.ts"]) {
  Deno.test(`lint rule comment-width refuses lines of comments that are wider than code: ${path}`, () => {
    const refused = [
      `// ${WIDE}`,
      `f(); // ${WIDE}`,
      `/** ${WIDE}*/`,
      `f();\n  /**\n   * Short.\n   * ${WIDE}\n   */\nf();`,
    ];
    for (const source of refused) assertEquals(broken(path, source), ["comment-width"], source);
  });

  Deno.test(`lint rule comment-width accepts what can't be broken, and code: ${path}`, () => {
    const accepted = [
      `// ${"word ".repeat(20)}`,
      `// https://example.org/ ${WIDE}`,
      `// deno run -A main.ts ${WIDE}`,
      `/**\n * \`\`\`ts\n * ${WIDE}\n * \`\`\`\n */`,
      `f("// ${WIDE}")`,
      `f(\`\n * ${WIDE}\`)`,
    ];
    for (const source of accepted) assertEquals(broken(path, source), [], source);
  });
}
