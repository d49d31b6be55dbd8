import { assertEquals } from "@std/assert";
import type { ClientOptions } from "@greenroom/matrix";
import { EVERYBODY } from "../support/everybody.ts";
import { clientStage } from "./support/stage.ts";

const SLIDING = { unstableFeatures: { "org.matrix.simplified_msc3575": true } };

Deno.test("By sliding sync one-time keys are counted when a message may have taken one, and not with each answer", async () => {
  await using here = clientStage(SLIDING);
  const options: Partial<ClientOptions> = { encryption: EVERYBODY };
  const alice = here.client("alice", { ...options, mxid: "@alice:localhost" });
  const bot = here.client("bot", { ...options, mxid: "@bot:localhost", sync: "sliding" });
  const room = await alice.createRoom({ invitees: ["@bot:localhost"] });
  await bot.joinRoom(room);
  for (let round = 0; round < 3; round++) await bot.syncOnce();
  const uploads = () =>
    here.homeserver.requests.filter("POST", "/keys/upload").filter(({ user }) => user === "@bot:localhost")
      .length;
  const before = uploads();
  for (let round = 0; round < 5; round++) {
    await alice.sendText(room, `message ${round}`);
    await bot.syncOnce();
  }
  assertEquals(uploads() - before, 0);
  await alice.sendToDevice("org.example.note", { "@bot:localhost": { "*": {} } });
  await bot.syncOnce();
  assertEquals(uploads() - before, 1);
});
