import { assert, assertEquals } from "@std/assert";
import type { Client } from "@greenroom/matrix";
import type { EventID, RoomID } from "@greenroom/matrix/types";
import { streamText } from "../../../src/bot/context/stream.ts";

/** What a server shows in the end of what handlers of one event send: it knows sends by their IDs. */
function server() {
  const known = new Map<string, EventID>();
  const shown: string[] = [];
  /** A run of the handler: what has neither an ID nor a key gets one that its content tells. */
  const run = (): Client => {
    const counts = new Map<string, number>();
    const sendMessage = (
      _: RoomID,
      content: { readonly body: string },
      { key, txnId }: { key?: string; txnId?: string } = {},
    ): Promise<EventID> => {
      const told = JSON.stringify(content);
      counts.set(told, (counts.get(told) ?? 0) + 1);
      const id = txnId ?? key ?? `${told} ${counts.get(told)}`;
      if (!known.has(id)) {
        known.set(id, `$event${known.size}`);
        shown.push(content.body);
      }
      return Promise.resolve(known.get(id) as EventID);
    };
    let now = 0;
    return { sendMessage, api: { clock: { now: () => now += 1_000 } } } as unknown as Client;
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
    ...{ room: "!room" as RoomID, signal: new AbortController().signal, msgtype: "m.notice" as const },
    ...{ name: "stream", interval: 0, placing: { replyTo: "$asked" as EventID } },
  };
  await streamText(pieces("one", " two three"), { ...parts, client: run() });
  await streamText(pieces("one", " two", " three"), { ...parts, client: run() });
  assert(shown.includes("one two"));
  assertEquals(shown.at(-1), "one two three");
});
