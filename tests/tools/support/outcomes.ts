// Tests of every outcome, for step_test.ts to run; the name keeps it out of the ordinary runs.

Deno.test("passes", () => {});
Deno.test("passes with a step", async (t) => {
  await t.step("a step", () => {});
});
Deno.test({ name: "is skipped", ignore: Deno.version.deno !== "", fn: () => {} });
Deno.test("fails", () => {
  throw new Error("as it should");
});
