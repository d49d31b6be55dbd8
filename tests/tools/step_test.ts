import { assert, assertEquals, assertMatch } from "@std/assert";
import { inTurn, run } from "../../tools/process.ts";
import { freePort } from "../../tools/free_port.ts";
import { commandResult, runSteps, testResult } from "../../tools/step.ts";
import { ignoredTests, parseTestSummary } from "../../tools/test_summary.ts";

const ignoredRun = "a test ... ignored (0ms)\n\nok | 2 passed | 0 failed | 1 ignored (7ms)\n";

Deno.test("parseTestSummary() reads counts with and without steps and skipped tests", () => {
  assertEquals(parseTestSummary("ok | 12 passed | 0 failed (5ms)\n"), { passed: 12, failed: 0, ignored: 0 });
  assertEquals(
    parseTestSummary(
      "x\n\nFAILED | 1 passed (1 step) | 3 failed (2 steps) | 4 ignored | 5 filtered out (1m2s)\n",
    ),
    { passed: 1, failed: 3, ignored: 4 },
  );
});

Deno.test("parseTestSummary() takes the last summary, as a test may print one", () => {
  const output = "ok | 99 passed | 0 failed (5ms)\nFAILED | 1 passed | 1 failed (5ms)\nerror: Test failed\n";
  assertEquals(parseTestSummary(output), { passed: 1, failed: 1, ignored: 0 });
});

Deno.test("parseTestSummary() finds none in a run that did not get to its tests", () => {
  assertEquals(parseTestSummary("error: Module not found\n"), undefined);
});

Deno.test("run() kills a program that hangs, and says so", async () => {
  const { code, output } = await run("deno", ["eval", "setInterval(() => {}, 60_000)"], {}, { limit: 10 });
  assertEquals(code, 124);
  assertMatch(output, /did not end within .* minutes, and was killed\n$/);
});

Deno.test("run() does not wait for what a program has started and left, when that holds its output", async () => {
  const left = `setTimeout(() => {}, 20_000)`;
  const script = `
    const output = { stdout: "inherit", stderr: "inherit" };
    new Deno.Command(Deno.execPath(), { args: ["eval", ${JSON.stringify(left)}], ...output }).spawn().unref();
  `;
  const { code, output } = await run("deno", ["eval", script], {}, { limit: 2_000 });
  assertEquals(code, 124, output);
});

Deno.test("ignoredTests() names the tests that were not run", () => {
  assertEquals(ignoredTests(ignoredRun), ["a test"]);
});

Deno.test("parseTestSummary() understands this Deno's own report", async () => {
  const { output } = await run("deno", ["test", "tests/tools/support/outcomes.ts"]);
  assertEquals(parseTestSummary(output), { passed: 2, failed: 1, ignored: 1 });
  assertEquals(ignoredTests(output), ["is skipped"]);
});

Deno.test("testResult() counts every test", () => {
  const result = testResult({ code: 1, output: "FAILED | 5 passed | 2 failed (1s)\n" }, { mayIgnore: false });
  assertEquals([result.passed, result.failed], [5, 2]);
});

Deno.test("testResult() counts a skipped test as a failure and names it, unless skipping is allowed", () => {
  const strict = testResult({ code: 0, output: ignoredRun }, { mayIgnore: false });
  assertEquals([strict.passed, strict.failed], [2, 1]);
  assertMatch(strict.output ?? "", /every test must run:\na test$/);
  const lenient = testResult({ code: 0, output: ignoredRun }, { mayIgnore: true });
  assertEquals([lenient.passed, lenient.failed, lenient.note], [2, 0, "2 passed, 1 skipped"]);
});

Deno.test("testResult() shows what failed without the tests that passed", () => {
  const output =
    "Check tests/a_test.ts\na ... ok (1ms)\nb ... FAILED (1ms)\nFAILED | 1 passed | 1 failed (1s)\n";
  const result = testResult({ code: 1, output }, { mayIgnore: true });
  assertEquals(result.output, "b ... FAILED (1ms)\nFAILED | 1 passed | 1 failed (1s)\n");
});

Deno.test("testResult() shows what a test printed if it failed, and not if it passed", () => {
  const block = (text: string) =>
    `------- post-test output -------\n${text}\n----- post-test output end -----\n`;
  const output = `${block("of a")}a ... FAILED (1ms)\n${block("of b")}b ... ok (1ms)\n` +
    `${block("of c")}c ... step ... ok (1ms)\nFAILED | 2 passed | 1 failed (1s)\n`;
  const result = testResult({ code: 1, output }, { mayIgnore: true });
  assertEquals(result.output, `${block("of a")}a ... FAILED (1ms)\nFAILED | 2 passed | 1 failed (1s)\n`);
});

Deno.test("testResult() counts a run that broke down, and one without tests, as a failure", () => {
  const lenient = { mayIgnore: true };
  assertEquals(testResult({ code: 1, output: "error: Type checking failed.\n" }, lenient).failed, 1);
  assertEquals(testResult({ code: 0, output: "" }, lenient).failed, 1);
  assertEquals(testResult({ code: 0, output: "ok | 0 passed | 0 failed (1ms)\n" }, lenient).failed, 1);
  assertEquals(testResult({ code: 1, output: "ok | 3 passed | 0 failed (1ms)\n" }, lenient).failed, 1);
});

Deno.test("runSteps() runs all steps, shows a line for each and what failed, and sums up", async () => {
  const lines: string[] = [];
  const sum = await runSteps([
    { name: "good", run: () => Promise.resolve({ passed: 7, failed: 0, note: "7 passed", output: "quiet" }) },
    { name: "bad", run: () => Promise.resolve(commandResult({ code: 3, output: "what is wrong\n" })) },
    { name: "broken", run: () => Promise.reject(new Error("out of order")) },
    { name: "absent", run: () => Promise.resolve({ passed: 0, failed: 0, note: "no Python" }) },
  ], (line) => lines.push(line.replaceAll(/\d+\.\d s/g, "0.0 s")));
  assertEquals(sum, { passed: 7, failed: 2 });
  assertMatch(lines[0] ?? "", /^ok +good +0\.0 s( +0\.0 s of processors)? +7 passed$/);
  assertMatch(lines[1] ?? "", /^FAIL +bad +0\.0 s( |$)/);
  assertEquals(lines[2], "what is wrong\n");
  assertMatch(lines[3] ?? "", /^FAIL +broken +0\.0 s( |$)/);
  assertMatch(lines[4] ?? "", /^Error: out of order/);
  assertMatch(lines[5] ?? "", /^skip +absent +0\.0 s( +0\.0 s of processors)? +no Python$/);
});

Deno.test("run() gives the exit code and everything printed, standard output also by itself", async () => {
  const script = `console.log("out", Deno.env.get("GREETING")); console.error("err"); Deno.exit(4)`;
  const { code, output, stdout } = await run("deno", ["eval", script], { GREETING: "hello" });
  assertEquals(code, 4);
  assertEquals(output.trim().split("\n").toSorted(), ["err", "out hello"]);
  assertEquals(stdout, "out hello\n");
});

Deno.test("runSteps() runs the steps of a list side by side, and those after it when all have ended", async () => {
  const order: string[] = [];
  const second = Promise.withResolvers<void>();
  const step = (name: string, until?: Promise<void>) => ({
    name,
    async run() {
      order.push(`${name} begins`);
      await until;
      order.push(`${name} ends`);
      if (name === "second") second.resolve();
      return { passed: 2, failed: 1 };
    },
  });
  const sum = await runSteps([[step("first", second.promise), step("second")], step("third")], () => {});
  assertEquals(order, [
    "first begins",
    "second begins",
    "second ends",
    "first ends",
    "third begins",
    "third ends",
  ]);
  assertEquals(sum, { passed: 6, failed: 3 });
});

Deno.test({
  name:
    "runSteps() says what processors worked for a step with its processes, and for steps side by side together",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const burn = `const end = performance.now() + 300; while (performance.now() < end);`;
    const script = `
      import { run } from ${JSON.stringify(new URL("../../tools/process.ts", import.meta.url).href)};
      import { runSteps } from ${JSON.stringify(new URL("../../tools/step.ts", import.meta.url).href)};
      const step = (name, work) => ({ name, run: async () => (await work(), { passed: 1, failed: 0 }) });
      const burns = () => run("deno", ["eval", ${JSON.stringify(burn)}]);
      await runSteps([step("burns", burns), [step("one", burns), step("other", async () => {})]], console.log);
    `;
    const { output } = await run("deno", ["eval", script]);
    const lines = output.trim().split("\n");
    const used = lines.map((line) => Number(/([\d.]+) s of processors/.exec(line)?.[1] ?? 0));
    assertEquals(used.map((seconds) => seconds > 0), [true, false, false, true], output);
    assertEquals(lines.map((line) => line.slice(6, 11).trim()), ["burns", "other", "one", "these"], output);
  },
});

Deno.test("A free port can be listened on, and is none that an outgoing connection may be given", () => {
  const port = freePort();
  using listener = Deno.listen({ hostname: "127.0.0.1", port });
  assert(listener.addr.port === port && port < 32_768);
});

Deno.test("inTurn() has one wait until another has come to its end", async () => {
  const file = await Deno.makeTempFile();
  const order: string[] = [];
  const work = (name: string) => async () => {
    order.push(`${name} begins`);
    await Deno.stat(file);
    order.push(`${name} ends`);
  };
  await Promise.all(["one", "other"].map((name) => inTurn(file, work(name))));
  await Deno.remove(file);
  const [first] = order;
  const names = first === "one begins" ? ["one", "other"] : ["other", "one"];
  assertEquals(order, names.flatMap((name) => [`${name} begins`, `${name} ends`]));
});
