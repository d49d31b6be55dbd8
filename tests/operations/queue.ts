import { assertEquals } from "@std/assert";
import type { Client } from "@greenroom/matrix";
import { PaginationDirection, type RoomID } from "@greenroom/matrix/types";
import type { Operation } from "./support/operation.ts";
import { roomOf } from "./support/scene.ts";

const TEXTS = ["1", "2", "3", "4"];

/** A way to the server that loses its answer to the first send, and counts them. */
function losing(straight: typeof fetch): { readonly fetch: typeof fetch; readonly sends: () => number } {
  let count = 0;
  return {
    async fetch(input, init) {
      const response = await straight(input, init);
      if (!response.url.includes("/send/") || count++ > 0) return response;
      await response.body?.cancel();
      return new Response("<h1>Bad Gateway</h1>", { status: 502 });
    },
    sends: () => count,
  };
}

async function textsOf(client: Client, roomId: RoomID): Promise<unknown[]> {
  const { chunk } = await client.getMessages(roomId, PaginationDirection.FORWARD, undefined, { limit: 100 });
  return chunk.flatMap(({ content }) => "body" in content ? [content.body] : []);
}

/** Queues of sends. */
export const queue: readonly Operation[] = [
  {
    name: "queue() sends in order and once what is not awaited, though the first answer is lost",
    covers: ["getMessages"],
    async run(scene) {
      const { fetch, sends } = losing(scene.host.fetch);
      const alice = await scene.player("alice", { fetch });
      const roomId = await roomOf(alice);
      const queue = alice.queue(roomId);
      for (const text of TEXTS) queue.sendText(text);
      await queue.settled();
      assertEquals(await textsOf(alice, roomId), TEXTS);
      assertEquals(sends(), 5);
    },
  },
  {
    name: "sendText() with queue: if-away arrives once and in order, though the first answer is lost",
    covers: ["sendText"],
    async run(scene) {
      const { fetch, sends } = losing(scene.host.fetch);
      const alice = await scene.player("alice", { fetch, retry: false });
      const roomId = await roomOf(alice);
      await Promise.all(TEXTS.map((text) => alice.sendText(roomId, text, { queue: "if-away" })));
      assertEquals(await textsOf(alice, roomId), TEXTS);
      assertEquals(sends(), 5);
    },
  },
];
