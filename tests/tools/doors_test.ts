import { assertEquals } from "@std/assert";
import { checkFiles } from "../../tools/structure/files.ts";
import { namesPastDoors, pastDoors } from "../../tools/structure/doors.ts";
import { folderCycles } from "../../tools/structure/folder_cycles.ts";
import { lonelyFiles } from "../../tools/structure/lonely_files.ts";
import { namesOfAll } from "../../tools/structure/names.ts";
import { type Debts, grown, partOf, shrunk } from "../../tools/structure/ratchet.ts";
import { structureTable } from "../../tools/structure/table.ts";
import type { ImportEdge } from "../../tools/structure/types.ts";

/** `a -> b` is an import, `a ~> b` one of types only, `a => b` one by `import()`. */
function edges(...imports: string[]): ImportEdge[] {
  return imports.map((line) => {
    const [from = "", arrow, to = ""] = line.split(" ");
    return { from, to, typeOnly: arrow === "~>", lazy: arrow === "=>" };
  });
}

const ENTRIES = ["mod.ts", "src/store/kv.ts"];
const past = (line: string) => pastDoors(edges(line), ENTRIES).length;

Deno.test("pastDoors() accepts the door of a folder, entries, open folders and what is loaded late", () => {
  for (
    const line of [
      "src/client/client.ts -> src/api/http/http.ts",
      "src/client/client.ts ~> src/api/media/mod.ts",
      "src/bot/env.ts -> src/store/kv.ts",
      "src/client/client.ts -> src/types/checks/shape.ts",
      "src/client/client.ts -> src/errors/matrix_error.ts",
      "src/client/client.ts -> src/base/clock.ts",
      "src/client/client.ts => src/crypto/engine/engine_parts.ts",
      "src/api/http/exchange.ts -> src/api/http/retry.ts",
      "src/api/http/retry.ts -> src/api/session.ts",
    ]
  ) assertEquals(past(line), 0, line);
});

Deno.test("pastDoors() refuses any other file of another folder, and of types too", () => {
  for (
    const line of [
      "src/client/client.ts -> src/api/http/retry.ts",
      "src/client/client.ts ~> src/api/session.ts",
      "mod.ts -> src/client/options.ts",
      "src/api/messages/messages.ts -> src/api/http/retry.ts",
      "src/api/session.ts -> src/api/http/retry.ts",
    ]
  ) assertEquals(past(line), 1, line);
});

const FOLDER = {
  "src/api/http/tries.ts": "export const tries = 3; export const rest = 1; export class Rate {}",
  "src/api/http/mod.ts": `export { tries, type Rate } from "./tries.ts";`,
};

Deno.test("namesPastDoors() refuses what a test takes past a door that exports it", () => {
  const found = (path: string, names: string, file = "tries") =>
    namesPastDoors(
      namesOfAll(
        Object.entries({ ...FOLDER, [path]: `import { ${names} } from "../../src/api/http/${file}.ts";` })
          .map(([path, text]) => ({ path, text })),
      ),
      ENTRIES,
    );
  assertEquals(found("tests/api/a_test.ts", "rest, type tries"), [
    "tests/api/a_test.ts: imports tries from src/api/http/tries.ts; import it from src/api/http/mod.ts",
  ]);
  assertEquals(found("tests/api/a_test.ts", "type Rate").length, 1);
  assertEquals(found("tests/api/a_test.ts", "rest, Rate"), []);
  assertEquals(found("tests/api/a_test.ts", "tries", "mod"), []);
  assertEquals(found("src/client/a.ts", "tries"), []);
});

Deno.test("folderCycles() finds folders that import values from each other, and no types", () => {
  assertEquals(
    folderCycles(edges(
      "src/a/x.ts -> src/b/x.ts",
      "src/b/y.ts -> src/c/x.ts",
      "src/c/y.ts => src/a/y.ts",
      "src/d/x.ts -> src/a/x.ts",
      "src/a/x.ts ~> src/d/x.ts",
      "src/a/x.ts -> src/a/y.ts",
      "src/e.ts -> src/e/x.ts",
      "src/e/x.ts -> src/f.ts",
    )),
    [["src", "src/e"], ["src/a", "src/b", "src/c"]],
  );
  assertEquals(folderCycles(edges("src/a/x.ts -> src/b/x.ts", "src/b/x.ts ~> src/a/y.ts")), []);
});

const file = (path: string, lines: number, head = "") => ({
  path,
  text: `/**\n * What it is for. ${head}\n *\n * @module\n */\n${"x;\n".repeat(lines - 5)}`,
});

Deno.test("lonelyFiles() finds a file under 120 lines that one file imports", () => {
  const found = (small: ReturnType<typeof file>, importer: ReturnType<typeof file>, ...imports: string[]) =>
    lonelyFiles([small, importer], edges(`${importer.path} -> ${small.path}`, ...imports), ENTRIES);
  const [small, importer] = [file("src/a/small.ts", 119), file("src/a/b.ts", 181)];
  assertEquals(found(small, importer), [{ path: small.path, importer: importer.path }]);
  assertEquals(found(small, importer, "src/a/b.ts ~> src/a/small.ts").length, 1);
  assertEquals(found(small, importer, "src/c/d.ts -> src/a/small.ts"), []);
  assertEquals(found(file("src/a/small.ts", 120), importer), []);
  assertEquals(found(small, file("src/a/b.ts", 182)), []);
  assertEquals(found(file("src/a/small.ts", 20, "A file of its own because it is a table."), importer), []);
  assertEquals(found(file("src/a/a.ts", 20), file("src/b/b.ts", 20)), []);
  assertEquals(found(small, file("mod.ts", 20)), []);
  assertEquals(lonelyFiles([small, importer], edges("src/a/b.ts => src/a/small.ts"), ENTRIES), []);
  const door = { path: "src/a/mod.ts", text: `/** Door. @module */\nexport { x } from "./small.ts";\n` };
  assertEquals(found(small, door), []);
});

Deno.test("lonelyFiles() counts of several small files only those that fit into their importer", () => {
  const files = [file("src/a/x.ts", 100), file("src/a/y.ts", 90), file("src/a/b.ts", 120)];
  const imports = edges("src/a/b.ts -> src/a/x.ts", "src/a/b.ts -> src/a/y.ts");
  assertEquals(lonelyFiles(files, imports, ENTRIES).map(({ path }) => path), ["src/a/y.ts"]);
});

const debts = (pastDoors: number, inCycles = 0, lonely = 0): Debts => ({ pastDoors, inCycles, lonely });

Deno.test("the ratchet fails when a number grows, and says so when one may be lowered", () => {
  const allowed = { "src/api": debts(3, 2, 1), "src/b src/c": debts(5) };
  assertEquals(grown(allowed, { "src/api": debts(3, 2, 1), "src/b src/c": debts(4) }), []);
  assertEquals(shrunk(allowed, { "src/api": debts(3, 2, 1), "src/b src/c": debts(4) }), [
    "src/b src/c: has 4 imports past a door and 5 are allowed; lower it (--lower)",
  ]);
  assertEquals(
    grown(allowed, { "src/api": debts(4, 3, 2), "src/new": debts(1) }).map((line) => line.split(",")[0]),
    [
      "src/api: has 4 imports past a door",
      "src/api: has 3 folders in a cycle",
      "src/api: has 2 small files with one importer",
      "src/new: has 1 imports past a door",
    ],
  );
});

Deno.test("partOf() finds the top folder of a file, or the part that several share", () => {
  assertEquals(partOf("src/api/http/http.ts", ["src/b src/c"]), "src/api");
  assertEquals(partOf("src/c/x/y.ts", ["src/b src/c"]), "src/b src/c");
  assertEquals(partOf("src/c", ["src/b src/c"]), "src/b src/c");
});

Deno.test("the doors of folders may re-export several files, and no other file may", () => {
  const text =
    `/**\n * Door.\n *\n * @module\n */\nexport { b } from "./b.ts";\nexport { c } from "./c.ts";\n`;
  assertEquals(checkFiles([{ path: "src/a/a.ts", text }, { path: "src/a/mod.ts", text }]), []);
  assertEquals(checkFiles([{ path: "src/a/other.ts", text }]).length, 1);
});

Deno.test("structureTable() counts files, folders, lines of code and what loads at start", () => {
  const files = [
    { path: "src/a/a.ts", text: "/** Comment. */\nexport interface XOptions {\n  a: 1; // one\n}\n" },
    { path: "src/b/b.ts", text: "// nothing\n\nexport const text = `\n\n`;\n" },
  ];
  const table = Object.fromEntries(
    structureTable(files, edges("mod.ts -> src/a/a.ts", "src/a/a.ts => src/b/b.ts"), ENTRIES),
  );
  assertEquals(table["files of src"], "2");
  assertEquals(table["files imported from another folder"], "2 (100 %)");
  assertEquals(table["…Options, …Parts, …Hooks, …Port"], "1");
  assertEquals(table["lines of src without comments"], "6");
  assertEquals(table["modules that mod.ts loads at start"], "2");
});
