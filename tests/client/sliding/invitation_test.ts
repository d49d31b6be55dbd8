import { assertEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import "../../../src/actors/syncer/sliding_sync.ts"; // so that it is there within a tick
import { SLIDING } from "../../support/sliding.ts";
import { clientStage } from "../support/stage.ts";

const BOT = "@bot:localhost";

Deno.test("An invitation is told once, though the homeserver shows it with all that happens in the room; one by somebody else is told", async () => {
  await using here = clientStage(SLIDING);
  const [alice, carol] = [here.client("alice"), here.client("carol")];
  const store = new MemoryStore();
  const told: string[] = [];
  const pass = async (): Promise<string[]> => {
    await using bot = here.client("bot", { mxid: BOT, sync: "sliding", store });
    for (const type of ["INVITE", "DISINVITE", "KICK", "LEAVE"] as const) {
      bot.on(type, () => void told.push(type));
    }
    await bot.syncOnce();
    return told.splice(0);
  };
  await here.client("bot").createRoom();
  assertEquals(await pass(), []);
  const room = await alice.createRoom({ invitees: [BOT] });
  assertEquals(await pass(), ["INVITE"]);
  for (const text of ["one", "two"]) {
    await alice.sendText(room, text);
    assertEquals(await pass(), []);
  }
  await alice.kickUser(room, BOT);
  await pass();
  await alice.inviteUser(room, BOT);
  assertEquals(await pass(), ["INVITE"]);
  await alice.inviteUser(room, "@carol:localhost");
  await carol.joinRoom(room);
  await alice.kickUser(room, BOT);
  await carol.inviteUser(room, BOT); // of which one answer has the end
  assertEquals(await pass(), ["INVITE"]);
});

for (const where of ["in the handler", "elsewhere"]) {
  Deno.test(`An invitation that follows one that was declined ${where} is told, though it is by the same user`, async () => {
    await using here = clientStage(SLIDING);
    const [alice, other] = [here.client("alice"), here.client("bot")];
    const store = new MemoryStore();
    const pass = async (): Promise<number> => {
      await using bot = here.client("bot", { mxid: BOT, sync: "sliding", store });
      let told = 0;
      bot.on("INVITE", async ({ room_id }) => {
        told++;
        if (where === "in the handler") await bot.leaveRoom(room_id);
      });
      await bot.syncOnce();
      return told;
    };
    await other.createRoom();
    assertEquals(await pass(), 0);
    const room = await alice.createRoom({ invitees: [BOT] });
    assertEquals(await pass(), 1);
    if (where === "elsewhere") await other.leaveRoom(room);
    await alice.inviteUser(room, BOT);
    assertEquals([await pass(), await pass()], [1, 0]);
  });
}
