import { assertEquals, assertRejects } from "@std/assert";
import { clientAPI } from "../../../src/api/api.ts";
import { ForbiddenError } from "@greenroom/matrix/errors";
import { clientEvent } from "../../support/events.ts";
import { refusal, type Rule, type Scripted, scripted } from "../../support/scripted_fetch.ts";

const ROOM = "GET /_matrix/client/v1/rooms/!room";
const MESSAGES = "GET /_matrix/client/v3/rooms/!room/messages";

const event = (n: number) => clientEvent(String(n));

/** A scripted session that knows its server's version already. */
async function modern(rules: Record<string, Rule>): Promise<Scripted> {
  const made = scripted({ "GET /_matrix/client/versions": { versions: ["v1.16"] }, ...rules });
  await made.session.versions();
  made.requests.length = 0;
  return made;
}

/**
 * Three pages of `items`, the second of them empty; each asked for by the token of the one before.
 */
const pages = (items: string, next: string, parameter = "from"): Rule => ({ query }) => {
  const from = new URLSearchParams(query).get(parameter);
  const page = { start: "t", results: [] };
  if (from === "p2") return { ...page, [items]: [], [next]: "p3" };
  if (from === "p3") return { ...page, [items]: [event(3)] };
  return { ...page, [items]: [event(1), event(2)], [next]: "p2" };
};

Deno.test("Iterators read page after page to the end, over empty pages", async () => {
  const { session, requests } = await modern({
    [MESSAGES]: pages("chunk", "end"),
    [`${ROOM}/relations/$event/m.thread`]: pages("chunk", "next_batch"),
    [`${ROOM}/threads`]: pages("chunk", "next_batch"),
    [`${ROOM}/hierarchy`]: pages("rooms", "next_batch"),
    "GET /_matrix/client/v3/publicRooms": pages("chunk", "next_batch", "since"),
  });
  const api = clientAPI(session);
  const iterators: AsyncGenerator<unknown>[] = [
    api.iterateMessages("!room", "b", { limit: 2, fromToken: "p1" }),
    api.iterateMessages("!room", "f"),
    api.iterateRelations("!room", "$event", { relType: "m.thread", limit: 2 }),
    api.iterateThreads("!room", { include: "all" }),
    api.iterateSpaceRooms("!room", { maxDepth: 2 }),
    api.iterateRoomDirectory({ limit: 2 }),
  ];
  for (const iterator of iterators) {
    requests.length = 0;
    assertEquals(await Array.fromAsync(iterator), [event(1), event(2), event(3)]);
    assertEquals(requests.length, 3);
    const kept = requests.map(({ query }) => {
      const rest = new URLSearchParams(query);
      rest.delete("from");
      rest.delete("since");
      return rest.toString();
    });
    assertEquals(new Set(kept).size, 1, "the other options are those of every page");
  }
});

Deno.test("An iterator asks for a page when the one before is used up, and not if the loop has ended", async () => {
  const { session, requests } = await modern({ [MESSAGES]: pages("chunk", "end") });
  const iterator = clientAPI(session).iterateMessages("!room", "b");
  assertEquals(requests.length, 0);
  for await (const _event of iterator) if (requests.length > 0) break;
  assertEquals(requests.length, 1);
});

Deno.test("A page whose next one is itself is the last", async () => {
  const { session, requests } = await modern({ [MESSAGES]: { start: "t", chunk: [event(1)], end: "same" } });
  assertEquals((await Array.fromAsync(clientAPI(session).iterateMessages("!room", "b"))).length, 2);
  assertEquals(requests.length, 2);
});

Deno.test("An iterator fails with what its page fails with", async () => {
  const { session } = await modern({ [MESSAGES]: refusal(403, "M_FORBIDDEN") });
  await assertRejects(
    () => Array.fromAsync(clientAPI(session).iterateMessages("!room", "b")),
    ForbiddenError,
  );
});
