import { assertEquals, assertRejects } from "@std/assert";
import { notificationsAPI } from "../../../src/api/account/notifications.ts";
import { ServiceResponseError, ValueError } from "@greenroom/matrix/errors";
import { type Answer, scripted } from "../../support/scripted_fetch.ts";

function api(answer: Answer) {
  const { session, requests } = scripted({ "GET /_matrix/client/v3/notifications": answer });
  return { ...notificationsAPI(session), requests };
}

const event = {
  event_id: "$1",
  type: "m.room.message",
  sender: "@bob:b.org",
  origin_server_ts: 1,
  content: { body: "Hi", msgtype: "m.text" },
};
const notification = { room_id: "!room:b.org", event, actions: ["notify"], read: false, ts: 5 };

Deno.test("getNotifications() returns events with their room, and leaves out what is none", async () => {
  const { getNotifications, requests } = api({
    notifications: [
      notification,
      { ...notification, event: { ...event, room_id: "!other:b.org" }, profile_tag: "phone" },
      { ...notification, room_id: 5 },
      { ...notification, event: { ...event, sender: "bob" } },
      { ...notification, event: null },
      null,
    ],
    next_token: "n2",
  });
  const { notifications, next_token } = await getNotifications({ from: "n1", limit: 5, only: "highlight" });
  assertEquals(requests[0]?.query, "from=n1&limit=5&only=highlight");
  assertEquals(next_token, "n2");
  const inRoom = { ...event, room_id: "!room:b.org" };
  assertEquals(notifications.map(({ event, room_id }) => ({ event, room_id })), [
    { event: inRoom, room_id: "!room:b.org" },
    { event: inRoom, room_id: "!room:b.org" }, // the room that the notification says
  ] as never);
  assertEquals(notifications.map(({ profile_tag }) => profile_tag), [undefined, "phone"]);
});

Deno.test("getNotifications() refuses a limit of 0, and an answer that is none", async () => {
  await assertRejects(() => api({}).getNotifications({ limit: 0 }), ValueError, "limit");
  await assertRejects(() => api({}).getNotifications(), ServiceResponseError, "notifications");
  assertEquals((await api({ notifications: [], next_token: null }).getNotifications()).notifications, []);
});
