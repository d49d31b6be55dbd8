import { dirname } from "node:path";
import { assert, assertEquals } from "@std/assert";
import { choosingTests } from "../../tools/gate/every_case.ts";
import { groupTests, testsIn } from "../../tools/gate/test_files.ts";
import { ROOT } from "../../tools/process.ts";
import { casesToTry } from "../support/cases.ts";

Deno.test("casesToTry() gives the first of each kind and each tenth, and all where all are to be tried", () => {
  const cases = Array.from({ length: 25 }, (_, at) => at + 1);
  const kindOf = (at: number) => at < 5 ? "early" : at < 25 ? "late" : "last";
  assertEquals(casesToTry(cases, kindOf, { all: false }), [1, 5, 10, 20, 25]);
  assertEquals(casesToTry(cases, kindOf, { all: true }), cases);
});

Deno.test("The step of every case runs the tests that choose among cases themselves or by what they import", async () => {
  const files = await choosingTests();
  for (const file of ["tests/bot/timers/later_test.ts", "tests/client/delivery/crash_test.ts"]) {
    assert(files.includes(file), file);
  }
  assert(!files.includes("tests/tools/step_test.ts"));
});

Deno.test("groupTests() puts each file of tests into one group", async () => {
  const files = await testsIn("tests/crypto");
  const groups = await groupTests(files);
  const texts = await Promise.all(groups.map((path) => Deno.readTextFile(path)));
  const imported = texts.flatMap((text) =>
    [...text.matchAll(/^import "file:\/\/(.*)";$/gm)].map(([, path]) => path)
  );
  assert(groups.length < files.length / 10, `${groups.length} groups`);
  assertEquals(imported, files.map((file) => ROOT + file));
  await Deno.remove(dirname(groups[0] ?? ""), { recursive: true });
});
