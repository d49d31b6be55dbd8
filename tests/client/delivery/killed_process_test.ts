import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async/delay";
import { Client } from "@greenroom/matrix";
import { Homeserver } from "@greenroom/matrix/testing";
import { ENCRYPTED } from "../support/encrypted_room.ts";
import { KillableProcess, type ProcessSettings } from "../support/killable_process.ts";
import { EVERYBODY } from "../../support/everybody.ts";

/** Alice, in a room with a bot that is killed again and again. */
async function stage({ encryption = false } = {}) {
  const folder = await Deno.makeTempDir();
  const homeserver = new Homeserver();
  const baseUrl = await homeserver.listen();
  const client = (name: string) => {
    const { accessToken: token } = homeserver.createUser(name);
    return {
      token,
      client: new Client({
        baseUrl,
        accessToken: token,
        encryption: encryption && name === "alice" && EVERYBODY,
      }),
    };
  };
  const [alice, bot] = [client("alice"), client("bot")];
  const id = await alice.client.createRoom({
    preset: "public_chat",
    initialState: encryption ? ENCRYPTED : [],
  });
  await bot.client.joinRoom(id);
  return {
    alice: alice.client,
    id,
    sent: () => homeserver.room(id).messages.filter(({ sender }) => sender === "@bot:localhost"),
    bot: (settings: Partial<ProcessSettings> = {}) =>
      new KillableProcess({ baseUrl, token: bot.token, path: `${folder}/bot.db`, encryption, ...settings }),
    async [Symbol.asyncDispose]() {
      await Promise.all([alice.client.close(), bot.client.close()]);
      await homeserver[Symbol.asyncDispose]();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

Deno.test("A handler that sends another text after kill -9 sends it, and the same text is not sent twice", async () => {
  for (const encryption of [false, true]) {
    await using here = await stage({ encryption });
    const ids: string[] = [];
    for (const says of ["A", "B", "A"]) {
      await using bot = here.bot({ says });
      await bot.says("up");
      if (ids.length === 0) await here.alice.sendText(here.id, "question");
      ids.push(await bot.says("said"));
    }
    const [a, b, again] = ids;
    assertEquals(here.sent().map(({ event_id }) => event_id), [a, b]);
    assertEquals(again, a);
  }
});

Deno.test("A message that kills every process with SIGKILL is quarantined, and tried again later; the others are handled", async () => {
  await using here = await stage();
  for (const text of ["1", "poison", "2"]) await here.alice.sendText(here.id, text);
  const left: string[] = [];
  for (let life = 0; life < 5; life++) {
    await using bot = here.bot();
    await bot.says("begins poison");
    await bot.ended();
  }
  {
    await using bot = here.bot({ speed: 4 });
    left.push(await bot.says("left out"));
    await bot.says("ends 2");
    await bot.says("begins poison"); // after ten of its seconds, with a sync
    await bot.ended();
  }
  await using last = here.bot({ speed: 4 });
  left.push(await last.says("left out"));
  await here.alice.sendText(here.id, "3");
  await last.says("ends 3");
  assertEquals(left, ["3", "4"]);
});

Deno.test("A handler of 20 seconds that is killed by SIGKILL five times completes in the end", async () => {
  await using here = await stage();
  await here.alice.sendText(here.id, "slow");
  await here.alice.sendText(here.id, "quick");
  for (let life = 0; life < 5; life++) {
    await using bot = here.bot({ speed: 20 });
    await bot.says("begins slow");
  } // at once: it has not lived for five of its seconds
  await using last = here.bot({ speed: 20 });
  await last.says("ends quick");
  await last.says("ends slow");
});

for (const ms of [0, 200]) {
  Deno.test(`An event whose handler ends the process ${ms} ms after it has settled does not do so for ever`, async () => {
    await using here = await stage();
    for (let life = 0;; life++) {
      assert(life < 6, "It ends each process");
      await using bot = here.bot();
      await bot.says("up");
      if (life === 0) await delay(500); // what comes now does not come with the first response
      if (life === 0) await here.alice.sendText(here.id, `throws after ${ms}`);
      if (await Promise.race([bot.ended().then(() => false), delay(3_000).then(() => true)])) break;
    }
  });
}
