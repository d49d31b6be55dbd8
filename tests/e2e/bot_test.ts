import { assert, assertEquals, assertRejects } from "@std/assert";
import { MemoryStore, UnknownTokenError } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import { type Player, roomOf, Scene } from "../operations/support/scene.ts";
import { syncUntil } from "../operations/support/wait.ts";
import { synapseHost } from "./support/host.ts";
import { Ours } from "./support/ours.ts";
import { newUser, type SynapseServer, synapseTest } from "./support/synapse.ts";

/** Defines a test that plays a scene on Synapse. */
function sceneTest(name: string, test: (scene: Scene, server: SynapseServer) => Promise<void>): void {
  synapseTest(name, async (server) => {
    await using scene = new Scene(synapseHost(server));
    await test(scene, server);
  });
}

/** Sends messages, several at once, the way people talk. */
async function chatter(
  player: Player,
  roomId: RoomID,
  texts: readonly string[],
  atOnce: number,
): Promise<void> {
  for (let i = 0; i < texts.length; i += atOnce) {
    await Promise.all(texts.slice(i, i + atOnce).map((text) => player.sendText(roomId, text)));
  }
}

/** Collects what a bot receives, and resolves when it has received enough. */
class Ears {
  readonly heard: string[] = [];
  readonly #waiting: { count: number; resolve: () => void }[] = [];

  hear(text: string): void {
    this.heard.push(text);
    for (const { count, resolve } of this.#waiting) if (this.heard.length >= count) resolve();
  }

  /** Resolves when so much has been heard. */
  async until(count: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ count, resolve });
    if (this.heard.length >= count) resolve();
    await promise;
  }
}

function numbers(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, index) => String(from + index));
}

sceneTest("A bot logs in, comes when it is invited, and echoes", async (scene) => {
  const [alice, echo] = await scene.players("alice", "echo");
  const bot = scene.client();
  await bot.login({ identifier: echo.userId, password: echo.password, deviceName: "Echo" });
  bot.on("INVITE", (event) => bot.joinRoom(event.room_id));
  bot.on("m.room.message", async (event) => {
    if (event.sender !== bot.mxid) await bot.sendNotice(event.room_id, `${event.content.body}!`);
  });
  const running = bot.start();
  const roomId = await alice.createRoom({ invitees: [echo.userId] });
  const { next } = await syncUntil(
    alice,
    ({ rooms }) =>
      rooms?.join?.[roomId]?.timeline?.events.find(({ state_key, content }) =>
        state_key === echo.userId && content.membership === "join"
      ),
  );
  await alice.sendText(roomId, "Hello");
  const { value: answer } = await syncUntil(
    alice,
    ({ rooms }) => rooms?.join?.[roomId]?.timeline?.events.find(({ sender }) => sender === echo.userId),
    next,
  );
  assertEquals([answer.content.msgtype, answer.content.body], ["m.notice", "Hello!"]);
  await bot.stop();
  await running;
});

sceneTest("Sequential handlers take the messages of a room one at a time and in order", async (scene) => {
  const [[alice], [bot]] = [await scene.people("alice"), await scene.players("bot")];
  const rooms = [await roomOf(alice, bot), await roomOf(alice, bot)];
  const steps = new Map<RoomID, string[]>(rooms.map((roomId) => [roomId, []]));
  const ears = new Ears();
  bot.on("m.room.message", async ({ room_id, content: { body } }) => {
    steps.get(room_id)?.push(`begin ${body}`);
    await bot.whoami(); // something that takes its time
    steps.get(room_id)?.push(`end ${body}`);
    ears.hear(body);
  }, { sequential: true });
  const running = bot.start();
  const texts = numbers(0, 20);
  await Promise.all(rooms.map((roomId) => chatter(alice, roomId, texts, 1)));
  await ears.until(40);
  for (const roomId of rooms) {
    assertEquals(steps.get(roomId), texts.flatMap((text) => [`begin ${text}`, `end ${text}`]));
  }
  await bot.stop();
  await running;
});

sceneTest(
  "A bot that is started again with the same store, again and again while people send, receives everything once and in order",
  async (scene, server) => {
    const [alice] = await scene.people("alice");
    const { userId, deviceId, accessToken: token } = await newUser(server, "bot");
    const roomId = await alice.createRoom({ preset: "public_chat" });
    const store = new MemoryStore();
    const heard: string[] = [];
    const talk = async () => {
      await scene.client({ accessToken: token }).joinRoom(roomId);
      await chatter(alice, roomId, numbers(0, 60), 1);
    };
    const talking = talk();
    for (const count of [10, 25, 40, 60]) {
      const bot = scene.client({ mxid: userId, deviceId, accessToken: token, store });
      const enough = Promise.withResolvers<void>();
      bot.on("m.room.message", ({ content: { body } }) => {
        heard.push(body);
        if (heard.length === count) enough.resolve();
      });
      const running = bot.start({ fillGaps: true });
      await enough.promise;
      await bot.close();
      await running;
    }
    await talking;
    assertEquals(heard, numbers(0, 60));
  },
);

sceneTest("A hundred messages of several senders in several rooms are each handled once", async (scene) => {
  const [[alice, carol], [bot]] = [await scene.people("alice", "carol"), await scene.players("bot")];
  const rooms = [await roomOf(alice, carol, bot), await roomOf(carol, alice, bot)];
  const ears = new Ears();
  bot.on("m.room.message", ({ content: { body } }) => ears.hear(body));
  const running = bot.start({ fillGaps: true });
  const [first, second] = rooms;
  assert(first && second);
  await Promise.all([
    chatter(alice, first, numbers(0, 25), 5),
    chatter(carol, first, numbers(25, 50), 5),
    chatter(alice, second, numbers(50, 75), 5),
    chatter(carol, second, numbers(75, 100), 5),
  ]);
  await ears.until(100);
  assertEquals(ears.heard.toSorted((one, other) => Number(one) - Number(other)), numbers(0, 100));
  await bot.stop();
  await running;
});

sceneTest("A bot whose token was voided elsewhere stops, and says why", async (scene) => {
  const { userId, password } = await scene.player("bot");
  const bot = scene.client();
  await bot.login({ identifier: userId, password });
  const elsewhere = scene.client({ accessToken: bot.api.accessToken });
  const synced = Promise.withResolvers<void>();
  const reasons: unknown[] = [];
  bot.on("SYNC_SUCCESSFUL", () => synced.resolve());
  bot.on("SYNC_STOPPED", ({ error }) => void reasons.push(error));
  const running = bot.start();
  await synced.promise;
  await elsewhere.logout();
  const error = await assertRejects(() => running, UnknownTokenError);
  assertEquals([error.status, error.body.soft_logout ?? false], [401, false]);
  assertEquals(reasons, [error]);
  const fatal = await assertRejects(() => bot.done, Error);
  assert(fatal.cause instanceof UnknownTokenError);
});

sceneTest(
  "A bot with a refresh token goes on syncing while its access tokens expire, and keeps each new pair",
  async (scene) => {
    const [alice, { userId, password }] = await scene.players("alice", "bot");
    const kept: { accessToken: string; refreshToken?: string }[] = [];
    const twice = Promise.withResolvers<void>();
    const bot = scene.client({
      onTokensRefreshed(tokens) {
        kept.push(tokens);
        if (kept.length === 2) twice.resolve();
      },
    });
    await bot.login({ identifier: userId, password, withRefreshToken: true });
    const first = bot.api.accessToken;
    const roomId = await roomOf(alice);
    await bot.joinRoom(roomId);
    const ears = new Ears();
    bot.on("m.room.message", ({ content: { body } }) => ears.hear(body));
    const running = bot.start({ timeout: 1_000 });
    await alice.sendText(roomId, "before");
    await ears.until(1);
    await twice.promise;
    await alice.sendText(roomId, "after");
    await ears.until(2);
    assertEquals(ears.heard, ["before", "after"]);
    assertEquals(new Set([first, ...kept.map(({ accessToken }) => accessToken)]).size, kept.length + 1);
    await bot.close();
    await running;
    const { accessToken: token, refreshToken } = kept.at(-1) ?? { accessToken: "" };
    const restarted = scene.client({ accessToken: token, refreshToken });
    assertEquals((await restarted.whoami()).user_id, userId);
  },
);

synapseTest(
  "examples/echo.ts answers in an encrypted room, with no other permission than to reach the homeserver",
  async (server) => {
    const user = await newUser(server, "alice"); // the bot hears only who has an identity
    const encryption = { onRecoveryKey() {}, password: user.password, backup: false };
    await using alice = await Ours.start(server, "alice", { user, encryption });
    const { userId, accessToken } = await newUser(server, "echo");
    const example = new URL("../../examples/echo.ts", import.meta.url).pathname;
    const net = `--allow-net=${new URL(server.baseUrl).host}`;
    await using bot = new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-prompt", "--unstable-kv", net, example, server.baseUrl, accessToken],
      stdout: "null",
      stderr: "null",
    }).spawn();
    const roomId = await alice.createRoom({ invite: [userId] });
    await alice.member(roomId, userId);
    await alice.sendText(roomId, "Is there an echo?");
    const answer = await alice.message(({ sender }) => sender === userId);
    assertEquals([answer.msgtype, answer.body, answer.encrypted], ["m.notice", "Is there an echo?", true]);
    bot.kill();
  },
);
