import { assert, assertEquals } from "@std/assert";
import { Step, StepGroup } from "../../bench/peers/stub/in_step.ts";

/** Lets all that can go on do so. */
async function turnOfTheLoop(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve));
}

Deno.test("Of contestants in step one works at a time, and the next when it asks for more", async () => {
  const group = new StepGroup(2);
  const [one, other] = [new Step(group), new Step(group)];
  const given: string[] = [];
  const ask = async (name: string, step: Step) => {
    await step.turn();
    given.push(name);
  };
  await ask("one", one);
  const second = ask("other", other);
  await turnOfTheLoop();
  assertEquals(given, ["one"]);
  const third = ask("one again", one);
  await second;
  assertEquals(given, ["one", "other"]);
  other.asked();
  await third;
  assertEquals(given, ["one", "other", "one again"]);
});

Deno.test("What contestants in step have worked is counted by jobs, from what they are given", async () => {
  const group = new StepGroup(2);
  const [one, other] = [new Step(group), new Step(group)];
  other.asked();
  assertEquals(other.worked, []);
  await one.turn();
  one.asked();
  one.job = 2;
  await one.turn();
  one.asked();
  assertEquals(Object.keys(one.worked), ["0", "2"]);
  assertEquals(other.worked, []);
});

Deno.test("Contestants in step are ready when all are", async () => {
  const group = new StepGroup(2);
  let ready = false;
  const first = new Step(group).ready().then(() => ready = true);
  await turnOfTheLoop();
  assert(!ready);
  await new Step(group).ready();
  await first;
  assert(ready);
});
