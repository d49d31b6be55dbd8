import { assertEquals, assertInstanceOf, assertRejects, assertStringIncludes } from "@std/assert";
import { AcceptedError, ServiceResponseError, ValueError } from "@greenroom/matrix/errors";
import type { RequestOptions } from "@greenroom/matrix";
import { messagesAPI } from "../../../src/api/messages/messages.ts";
import { roomsAPI, roomStateAPI } from "../../../src/api/rooms/rooms.ts";
import { receiptsAPI } from "../../../src/api/messages/mod.ts";
import type { Session } from "../../../src/api/http/mod.ts";
import { type Rule, scripted } from "../../support/scripted_fetch.ts";

const ROOM = "!a:example.org";

/** Everything that sends an event. */
const SENDS: Record<string, (session: Session, options?: RequestOptions) => Promise<unknown>> = {
  message: (session, options) =>
    messagesAPI(session).sendMessageEvent(ROOM, "com.example.a", { a: 1 }, options),
  reaction: (session, options) =>
    messagesAPI(session).sendMessageEvent(ROOM, "m.reaction", {
      "m.relates_to": { rel_type: "m.annotation", event_id: "$a", key: "a" },
    }, options),
  redaction: (session, options) => messagesAPI(session).redact(ROOM, "$a", options),
  state: (session, options) =>
    roomStateAPI(session).sendStateEvent(ROOM, "m.room.name", { name: "a" }, options),
};

/** Answers that say "done", and not what. */
const UNUSUAL: Record<string, () => Rule> = {
  "a delay": () => ({ delay_id: "d" }),
  "an empty object": () => ({}),
  "an empty body": () => new Response(null, { status: 200 }),
  "no content": () => new Response(null, { status: 204 }),
  "a number": () => ({ event_id: 7 }),
  "null": () => Response.json(null),
};

for (const [what, send] of Object.entries(SENDS)) {
  for (const [answer, rule] of Object.entries(UNUSUAL)) {
    Deno.test(`A ${what} that is answered by ${answer} was accepted: the caller learns that, and it is not sent again`, async () => {
      const { session, requests } = scripted({ "*": rule() }, { checked: false });
      const error = await assertRejects(() => send(session, { retry: { maxRetries: 5 } }), AcceptedError);
      assertInstanceOf(error, ServiceResponseError);
      assertStringIncludes(error.message, "; the homeserver has accepted the request: do not repeat it");
      assertEquals(requests.length, 1);
    });
  }

  Deno.test(`A ${what} that is answered by a page was accepted by nobody`, async () => {
    const page = new Response("<h1>Log in to the hotel</h1>", { headers: { "content-type": "text/html" } });
    const { session } = scripted({ "*": page }, { checked: false });
    const error = await assertRejects(() => send(session), ServiceResponseError);
    assertEquals(error.constructor, ServiceResponseError);
  });

  for (const name of ["delay", "org.matrix.msc4140.delay", "org.matrix.msc4140.parent_delay_id"]) {
    Deno.test(`A ${what} whose query has ${name} is refused before it is sent`, async () => {
      const { session, requests } = scripted({ "*": { delay_id: "d" } }, { checked: false });
      await assertRejects(() => send(session, { query: { [name]: 5_000 } }), ValueError, name);
      assertEquals(requests.length, 0);
    });
  }
}

Deno.test("A room whose creation is answered without its ID was created", async () => {
  const { session } = scripted({ "*": {} }, { checked: false });
  await assertRejects(() => roomsAPI(session).createRoom(), AcceptedError, '"room_id" is missing');
});

Deno.test("A change whose answer nobody reads may be answered by nothing", async () => {
  const { session } = scripted({ "*": new Response(null, { status: 204 }) }, { checked: false });
  assertEquals(await receiptsAPI(session).setTyping(ROOM), undefined);
});

Deno.test("What only asks is accepted by no answer", async () => {
  const { session } = scripted({ "*": {} }, { checked: false });
  const error = await assertRejects(
    () => messagesAPI(session).getMessages(ROOM, "b", "t"),
    ServiceResponseError,
  );
  assertEquals(error.constructor, ServiceResponseError);
});
