import { assertEquals } from "@std/assert";
import { LeftRooms } from "../../../src/appservice/own_users.ts";

const GHOST = "@ghost:localhost";

function leaving(room: number) {
  return { type: "m.room.member", room_id: `!${room}`, state_key: GHOST, content: { membership: "leave" } };
}

Deno.test("Rooms that were found, or are not left, make place for others, thousands of times", async () => {
  const rooms = new LeftRooms({
    isOwn: (userId) => userId === GHOST,
    hasOwnMember: (roomId) => Promise.resolve(Number(roomId.slice(1)) % 2 === 1),
  });
  for (let room = 0; room < 3_000; room += 2) {
    rooms.note([leaving(room), leaving(room + 1)]);
    assertEquals(await rooms.find(), [`!${room}`]);
  }
  for (let looks = 0; looks < 10; looks++) assertEquals(await rooms.find(), []);
  for (let room = 0; room < 2_000; room += 2) rooms.note([leaving(room)]);
  assertEquals((await rooms.find()).length, 1_000);
});
