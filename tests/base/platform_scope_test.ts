import { assert, assertEquals, assertThrows } from "@std/assert";
import { AsyncLocalStorage as NodeScope } from "node:async_hooks";
import { platform as deno } from "../../src/base/platform/deno.ts";
import { platform as node } from "../../src/base/platform/node.ts";

Deno.test("Scopes of Deno and of Node reach what is started inside, beside those of an application", async () => {
  for (const { AsyncLocalStorage, startTimer } of [deno, node]) {
    const [one, other, application] = [
      new AsyncLocalStorage<string>(),
      new AsyncLocalStorage<string | undefined>(),
      new NodeScope<string>(),
    ];
    const seen = () => [one.getStore(), other.getStore(), application.getStore()];
    const later: unknown[] = [];
    const note = () => void later.push(seen());
    await one.run("a", async () => {
      queueMicrotask(note);
      assertEquals(seen(), ["a", undefined, undefined]);
      await other.run("b", async (given) => {
        assertEquals(given, "given");
        await Promise.resolve();
        await application.run("c", async () => {
          assertEquals(await other.run("d", () => Promise.resolve(seen())), ["a", "d", "c"]);
          assertEquals(other.run(undefined, seen), ["a", undefined, "c"]);
          await new Promise<void>((resolve) => setTimeout(() => resolve(note())));
          await new Promise<void>((resolve) => void startTimer(() => resolve(note()), 0));
          assertThrows(() => other.run("e", assert, null));
          assertEquals(seen(), ["a", "b", "c"]);
        });
        assertEquals(seen(), ["a", "b", undefined]);
      }, "given");
      assertEquals(seen(), ["a", undefined, undefined]);
    });
    assertEquals(seen(), [undefined, undefined, undefined]);
    assertEquals(later, [["a", undefined, undefined], ["a", "b", "c"], ["a", "b", "c"]]);
  }
  assert(deno.AsyncLocalStorage !== NodeScope, "Deno carries values otherwise than it did: scopes cost more");
});

Deno.test("The Deno of the gate is the one whose insides are used", async () => {
  const [gate, sources] = await Promise.all(
    ["../../.ci/run", "../../src/base/platform/deno.ts"].map((path) =>
      Deno.readTextFile(new URL(path, import.meta.url))
    ),
  );
  const [, version = "none"] = /^version=(.*)$/m.exec(gate ?? "") ?? [];
  assert(sources?.includes(`const KNOWN = Deno.version.deno === "${version}"`), version);
});

Deno.test("Any other Deno gets what is documented", async () => {
  const { version } = Deno;
  Object.defineProperty(Deno, "version", { value: { ...version, deno: "2.9.99" }, configurable: true });
  try {
    const { platform: other }: { platform: typeof deno } = await import(
      `${import.meta.resolve("../../src/base/platform/deno.ts")}?other`
    );
    assertEquals([other.isProxy(new Proxy({}, {})), other.isProxy({})], [true, false]);
    assert(other.isProxy !== deno.isProxy);
    await new Promise<void>((resolve) => void other.startTimer(resolve, 0));
  } finally {
    Object.defineProperty(Deno, "version", {
      value: version,
      configurable: true,
      enumerable: true,
      writable: true,
    });
  }
});
