import { assertEquals } from "@std/assert";
import { PaginationDirection } from "@greenroom/matrix/types";
import type { Operation } from "./support/operation.ts";
import { roomOf } from "./support/scene.ts";

/** Queues of sends. */
export const queue: readonly Operation[] = [
  {
    name: "queue() sends in order and once what is not awaited, though the first answer is lost",
    covers: ["getMessages"],
    async run(scene) {
      let lost = 0;
      const losing: typeof fetch = async (input, init) => {
        const response = await scene.host.fetch(input, init);
        if (!response.url.includes("/send/") || lost++ > 0) return response;
        await response.body?.cancel();
        return new Response("<h1>Bad Gateway</h1>", { status: 502 });
      };
      const alice = await scene.player("alice", { fetch: losing });
      const roomId = await roomOf(alice);
      const queue = alice.queue(roomId);
      for (const text of ["1", "2", "3", "4"]) queue.sendText(text);
      await queue.settled();
      const { chunk } = await alice.getMessages(roomId, PaginationDirection.FORWARD, undefined, {
        limit: 100,
      });
      assertEquals(chunk.flatMap(({ content }) => "body" in content ? [content.body] : []), [
        "1",
        "2",
        "3",
        "4",
      ]);
      assertEquals(lost, 5);
    },
  },
];
