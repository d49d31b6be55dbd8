import { assertEquals } from "@std/assert";
import type { Bot } from "@greenroom/matrix/bot";
import type { RoomID } from "@greenroom/matrix/types";
import { trying } from "../support.ts";

const FORBIDDEN = { kind: "status", status: 403, body: { errcode: "M_FORBIDDEN" } } as const;

Deno.test("A bot that is thrown out while it puts a question, and invited again in the same response, joins again", async () => {
  await using tester = trying((bot: Bot) =>
    void bot.command("ask", (c) => c.ask("One?", { from: "anyone" }).catch(() => {}))
  );
  const { homeserver, mxid: user } = tester;
  const room = await tester.room("alice");
  const asks = homeserver.faults.add({ kind: "hold", match: { path: "/send/m.room.message", user } });
  await room.say("!ask");
  await tester.until(() => asks.hits === 1, "it does not ask");
  const syncs = homeserver.faults.add({ kind: "hold", match: { path: "/sync", user } });
  await room.say("so that it asks what is new once more");
  await tester.until(() => syncs.hits > 0, "it does not sync");
  const refuses = homeserver.faults.add({ ...FORBIDDEN, match: { path: "/join", user } });
  const path = `/rooms/${encodeURIComponent(room.id)}`;
  for (const verb of ["kick", "invite"]) {
    await tester.request("alice", "POST", `${path}/${verb}`, { user_id: user });
  }
  syncs.release();
  syncs.remove();
  await tester.until(() => refuses.hits > 0, "it does not try to join");
  await tester.pass(10_000);
  asks.release(); // only now it has left the room for good
  asks.remove();
  await tester.settle();
  refuses.remove();
  for (let step = 0; step < 12; step++) await tester.pass(10_000);
  assertEquals(room.view().membership(user), "join");
});

Deno.test("An invitation that is withdrawn while autoJoin decides is not accepted, and a later one is", async () => {
  const deciding: ((joins: boolean) => void)[] = [];
  const autoJoin = () => new Promise<boolean>((resolve) => void deciding.push(resolve));
  await using tester = trying(() => {}, { autoJoin });
  await tester.start();
  const { homeserver, mxid: user } = tester;
  const { room_id } = await tester.request("alice", "POST", "/createRoom", { preset: "public_chat" });
  const id = room_id as RoomID;
  for (const verb of ["invite", "kick", "invite"]) {
    await tester.request("alice", "POST", `/rooms/${encodeURIComponent(id)}/${verb}`, { user_id: user });
    await tester.settle();
  }
  deciding[0]?.(true);
  await tester.settle();
  assertEquals(homeserver.room(id).membership(user), "invite");
  deciding[1]?.(true);
  await tester.settle();
  assertEquals(homeserver.room(id).membership(user), "join");
});
