import { assert, assertEquals } from "@std/assert";
import type { EventID } from "@greenroom/matrix/types";
import { streamText } from "../../../src/bot/context/stream.ts";

/** What a server shows in the end of what handlers of one event send: it knows sends by their IDs. */
function server() {
  const known = new Map<string, EventID>();
  const shown: string[] = [];
  /** A run of the handler: what has neither an ID nor a key gets one that its content tells. */
  const run = () => {
    const counts = new Map<string, number>();
    const send = (content: { readonly body: string }, { key }: { key?: string } = {}): Promise<EventID> => {
      const told = JSON.stringify(content);
      counts.set(told, (counts.get(told) ?? 0) + 1);
      const id = key ?? `${told} ${counts.get(told)}`;
      if (!known.has(id)) {
        known.set(id, `$event${known.size}`);
        shown.push(content.body);
      }
      return Promise.resolve(known.get(id) as EventID);
    };
    let now = 0;
    return { send, clock: { now: () => now += 1_000, delay: () => Promise.resolve() } };
  };
  return { shown, run };
}

async function* pieces(...texts: readonly string[]): AsyncGenerator<string> {
  for (const text of texts) {
    yield text;
    await new Promise<void>((resolve) => queueMicrotask(resolve));
    for (let turn = 0; turn < 20; turn++) await Promise.resolve(); // what is sent arrives
  }
}

Deno.test("What is streamed again after a crash ends with the whole text, however it was cut before", async () => {
  const { shown, run } = server();
  const parts = {
    ...{ signal: new AbortController().signal, msgtype: "m.notice" as const },
    ...{ name: "stream", interval: 0, placing: { replyTo: "$asked" as EventID } },
  };
  await streamText(pieces("one", " two three"), { ...parts, ...run() });
  await streamText(pieces("one", " two", " three"), { ...parts, ...run() });
  assert(shown.includes("one two"));
  assertEquals(shown.at(-1), "one two three");
});
