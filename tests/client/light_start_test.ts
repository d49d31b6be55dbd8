import { assertEquals } from "@std/assert";
import { ROOT } from "../../tools/process.ts";

/** What of Deno loads much of Node when it is read first. */
const HEAVY = ["setTimeout", "setInterval", "setImmediate", "process", "Buffer"];

interface Dependency {
  readonly code?: { readonly specifier?: string };
  readonly isDynamic?: boolean;
}

interface Graph {
  readonly modules: readonly { readonly specifier: string; readonly dependencies?: readonly Dependency[] }[];
}

Deno.test("What a client loads with itself is nothing of Node or of npm", async () => {
  const command = new Deno.Command(Deno.execPath(), { args: ["info", "--json", "mod.ts"], cwd: ROOT });
  const { modules }: Graph = JSON.parse(new TextDecoder().decode((await command.output()).stdout));
  const dependencies = new Map(modules.map((module) => [module.specifier, module.dependencies ?? []]));
  const loaded = new Set([`file://${ROOT}mod.ts`]);
  for (const specifier of loaded) {
    for (const { code, isDynamic = false } of dependencies.get(specifier) ?? []) {
      if (!isDynamic && code?.specifier !== undefined) loaded.add(code.specifier);
    }
  }
  const isForeign = (specifier: string) =>
    specifier.startsWith("node:") ||
    (specifier.startsWith("npm:") && !specifier.startsWith("npm:deno-std@")); // which stands for `@std`
  assertEquals([...loaded].filter(isForeign), []);
});

Deno.test("A client starts, and handles an event, without reading what loads Node", async () => {
  const read: string[] = [];
  const found = HEAVY.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const);
  for (const [name, descriptor] of found) {
    Object.defineProperty(globalThis, name, {
      configurable: true,
      get: () => (read.push(name), descriptor?.get === undefined ? descriptor?.value : descriptor.get()),
    });
  }
  try {
    const { DOMException } = globalThis;
    globalThis.DOMException = class extends DOMException {
      constructor(...given: ConstructorParameters<typeof DOMException>) {
        super(...given);
        read.push(`an error: ${this.message}`); // at the top of a module V8 reads all of it to say where
      }
    };
    const { Client } = await import("@greenroom/matrix"); // which looks how it finds them
    globalThis.DOMException = DOMException;
    const event = {
      type: "m.room.message",
      event_id: "$1",
      sender: "@alice:example.org",
      origin_server_ts: 1,
    };
    const events = [{ ...event, content: { msgtype: "m.text", body: "hello" } }];
    const first = { next_batch: "s1", rooms: { join: { "!room:example.org": { timeline: { events } } } } };
    const answers = [first];
    await using client = new Client({
      ...{ baseUrl: "https://example.org", accessToken: "token", mxid: "@me:example.org", deviceId: "LIGHT" },
      fetch: (_, init) => {
        const answer = answers.shift();
        if (answer !== undefined) return Promise.resolve(Response.json(answer));
        return new Promise((_, reject) =>
          init?.signal?.addEventListener("abort", () => reject(init.signal?.reason))
        );
      },
    });
    const heard = Promise.withResolvers<void>();
    client.on("m.room.message", () => heard.resolve());
    const running = client.start();
    await heard.promise;
    assertEquals(read, []);
    await client.stop();
    await running;
  } finally {
    for (const [name, descriptor] of found) {
      if (descriptor !== undefined) Object.defineProperty(globalThis, name, descriptor);
    }
  }
});
