import { assert, assertEquals } from "@std/assert";
import type { RoomID } from "@greenroom/matrix/types";
import { Timeline } from "../../bench/simulation/core/timeline.ts";
import { Trace } from "../../bench/simulation/core/trace.ts";
import { RestorableHomeserver } from "../../bench/simulation/setback/restorable_homeserver.ts";

/** A homeserver with a user who has a room, and what asks it. */
async function begin() {
  const timeline = new Timeline(new Trace({ keeps: false }));
  const homeserver = new RestorableHomeserver(timeline, {
    onError(error) {
      throw error;
    },
  });
  const { accessToken, userId, deviceId } = homeserver.createUser("alice");
  const ask = async (method: string, path: string, body?: unknown) => {
    timeline.instant();
    const response = await homeserver.fetch(`${homeserver.baseUrl}/_matrix/client/v3/${path}`, {
      method,
      headers: { authorization: `Bearer ${accessToken}` },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    return await response.json();
  };
  const { room_id } = await ask("POST", "createRoom", {});
  const say = (text: string) =>
    ask("PUT", `rooms/${encodeURIComponent(room_id)}/send/m.room.message/${text}`, {
      msgtype: "m.text",
      body: text,
    });
  return { timeline, homeserver, ask, say, room: room_id as RoomID, userId, deviceId };
}

Deno.test("setBack() brings a homeserver back to a moment: events, messages to devices, tokens, transactions", async () => {
  const { timeline, homeserver, ask, say, room, userId, deviceId } = await begin();
  await using _ = homeserver;
  const first = await say("one");
  const send = (number: number) =>
    ask("PUT", `sendToDevice/org.example.memo/${number}`, { messages: { [userId]: { [deviceId]: {} } } });
  await send(1);
  const { events, inbox, next } = {
    events: homeserver.room(room).events,
    inbox: homeserver.toDevice(userId, deviceId),
    next: (await ask("GET", "sync")).next_batch,
  };
  const moment = timeline.now;
  const { event_id: lost } = await say("two");
  await send(2);
  await ask("GET", `sync?since=${next}`);
  await ask("GET", `sync?since=${(await ask("GET", `sync?since=${next}`)).next_batch}`);
  assertEquals(homeserver.toDevice(userId, deviceId), []);

  const forgotten = await homeserver.setBack(moment);
  assertEquals(homeserver.room(room).events, events);
  assertEquals(homeserver.toDevice(userId, deviceId), inbox);
  assertEquals(forgotten.events.get(room)?.map(({ event_id }) => event_id), [lost]);
  assertEquals(await say("one"), first);
  const { event_id: again } = await say("two");
  assert(again !== lost, "what was forgotten comes under another ID");
});

Deno.test("setBack() brings back what was redacted, and says so", async () => {
  const { timeline, homeserver, ask, say, room } = await begin();
  await using _ = homeserver;
  const { event_id } = await say("one");
  const moment = timeline.now;
  await ask("PUT", `rooms/${encodeURIComponent(room)}/redact/${encodeURIComponent(event_id)}/1`, {});
  const { unredacted } = await homeserver.setBack(moment);
  assertEquals([...unredacted], [event_id]);
  assertEquals(homeserver.room(room).messages.map(({ content }) => content.body), ["one"]);
});
