/**
 * A bot where no process stays: instances of it share a store, and make passes.
 *
 * @module
 */

import { type Client, defineSession, MemoryStore, type Store } from "@greenroom/matrix";
import { NO_FAULT, TestProcess } from "./crash.ts";
import { ENCRYPTED } from "./encrypted_room.ts";
import type { ClientStage } from "./stage.ts";
import { EVERYBODY } from "../../support/everybody.ts";

const counter = defineSession({ name: "counter", per: "room", initial: () => ({ count: 0 }) });

/** Answers each message of Alice's with its number, which the sessions keep. */
export function counting(bot: Client): Client {
  bot.on("m.room.message", async ({ sender, room_id, content }, { session }) => {
    if (sender !== "@alice:localhost") return;
    await bot.sendText(room_id, `${++session.count}: ${content.body}`);
  }, { session: counter, sequential: true });
  return bot;
}

/** Alice in a room with instances of a bot that share a store. */
export async function scene(
  stage: ClientStage,
  { encryption = false, store = new MemoryStore() as Store, duration = 15_000 } = {},
) {
  const alice = stage.client("alice", { encryption: encryption && EVERYBODY });
  const roomId = await alice.createRoom({
    preset: "public_chat",
    initialState: encryption ? ENCRYPTED : [],
  });
  const instance = (): Client =>
    counting(stage.client("bot", { store, encryption: encryption && EVERYBODY, lease: { duration } }));
  const first = instance();
  await first.joinRoom(roomId);
  await first.syncOnce();
  await alice.syncOnce();
  const answers: string[] = [];
  alice.on("m.room.message", ({ sender, content }) => {
    if (sender === "@bot:localhost") answers.push(content.body);
  });
  return { alice, roomId, instance, first, answers, store };
}

/** The requests for what is new that the bot has made. */
export function syncs(stage: ClientStage): number {
  return stage.homeserver.requests.filter("GET", "/sync").filter(({ user }) => user === "@bot:localhost")
    .length;
}

/** A handler that waits at each message until it is let go. */
export function stopping(bot: Client, text: string): { at: string[]; go: () => void } {
  const gate = Promise.withResolvers<void>();
  const at: string[] = [];
  bot.on("m.room.message", async ({ content }) => {
    if (content.body !== text) return;
    at.push(content.body);
    await gate.promise;
  }, { name: "stopping" });
  return { at, go: () => gate.resolve() };
}

/** A pass of an instance whose process is killed in the handler of the next message. */
export async function killedPass(stage: ClientStage, store: Store): Promise<void> {
  const process = new TestProcess(NO_FAULT);
  const fetch = process.fetch(stage.homeserver.fetch);
  const dying = stage.client("bot", { store: process.store(store), fetch, lease: { duration: 1_000 } });
  dying.on("m.room.message", () => process.kill());
  dying.syncOnce().catch(() => {});
  await stage.until(() => !process.isRunning);
  dying.close().catch(() => {});
  await stage.clock.tick(1_000);
}
