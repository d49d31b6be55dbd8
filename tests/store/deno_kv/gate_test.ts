import { assertEquals, assertRejects } from "@std/assert";
import { Gate } from "../../../src/store/deno_kv/gate.ts";

/** Steps that are named when they begin and end, and end when the test ends them. */
class Steps {
  readonly log: string[] = [];
  readonly #ends = new Map<string, PromiseWithResolvers<void>>();

  step(name: string): () => Promise<string> {
    const end = Promise.withResolvers<void>();
    this.#ends.set(name, end);
    return async () => {
      this.log.push(name);
      await end.promise;
      this.log.push(`/${name}`);
      return name;
    };
  }

  async end(name: string): Promise<void> {
    this.#ends.get(name)?.resolve();
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  }
}

Deno.test("Gate lets those beside each other begin at once", async () => {
  const [gate, steps] = [new Gate(), new Steps()];
  const both = [gate.beside(steps.step("a")), gate.beside(steps.step("b"))];
  assertEquals(steps.log, ["a", "b"]);
  await steps.end("b");
  await steps.end("a");
  assertEquals(await Promise.all(both), ["a", "b"]);
});

Deno.test("Gate lets one alone begin when those before have ended, and those after when it has", async () => {
  const [gate, steps] = [new Gate(), new Steps()];
  const all = [
    gate.beside(steps.step("a")),
    gate.alone(steps.step("B")),
    gate.beside(steps.step("c")),
    gate.alone(steps.step("D")),
  ];
  assertEquals(steps.log, ["a"]);
  await steps.end("c");
  await steps.end("a");
  assertEquals(steps.log, ["a", "/a", "B"]);
  await steps.end("B");
  await steps.end("D");
  assertEquals(await Promise.all(all), ["a", "B", "c", "D"]);
  assertEquals(steps.log, ["a", "/a", "B", "/B", "c", "/c", "D", "/D"]);
  const last = gate.beside(steps.step("e"));
  assertEquals(steps.log.at(-1), "e");
  await steps.end("e");
  await last;
});

Deno.test("Gate goes on after a failure, and rejects the call that failed", async () => {
  const gate = new Gate();
  const failing = () => Promise.reject(new TypeError("no"));
  const outcomes = [gate.beside(failing), gate.alone(failing), gate.alone(() => Promise.resolve(1))];
  await assertRejects(() => outcomes[0] as Promise<unknown>, TypeError);
  await assertRejects(() => outcomes[1] as Promise<unknown>, TypeError);
  assertEquals(await outcomes[2], 1);
});
