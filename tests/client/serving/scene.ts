/**
 * A bot that its homeserver wakes: instances of it share a store, and answer by `fetch`.
 *
 * @module
 */

import { type Client, type ClientOptions, defineSession, MemoryStore, type Store } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import { ENCRYPTED } from "../support/encrypted_room.ts";
import { type ClientStage, clientStage } from "../support/stage.ts";
import { EVERYBODY } from "../../support/everybody.ts";

/** The secret of the bot. */
export const SECRET = "a secret for the tests";
/** Where the bot is woken. */
export const URL_OF_BOT = "https://bot.example/_matrix/push/v1/notify";

const counter = defineSession({ name: "counter", per: "room", initial: () => ({ count: 0 }) });

/** A bot and what is around it. */
export interface WakeScene extends AsyncDisposable {
  readonly stage: ClientStage;
  readonly alice: Client;
  readonly roomId: RoomID;
  /** Makes an instance, which answers each message of Alice's with its number. */
  instance(options?: Partial<ClientOptions>): Client;
  /** The instances that the homeserver's requests go to, in turns. */
  readonly instances: Client[];
  /** The answers to the homeserver's requests. */
  readonly answered: { readonly status: number; readonly body: unknown }[];
  /** What the bot has said, as Alice has seen it. */
  answers(): Promise<string[]>;
}

/** Sets the scene: the bot is registered, and in a room with Alice. */
export async function wakeScene(
  { encryption = false, store = new MemoryStore() as Store, isWoken = true, sync }: {
    readonly encryption?: boolean;
    readonly store?: Store;
    readonly isWoken?: boolean;
    readonly sync?: ClientOptions["sync"];
  } = {},
): Promise<WakeScene> {
  const instances: Client[] = [];
  const answered: WakeScene["answered"] = [];
  let turn = 0;
  const stage = clientStage({
    async pushFetch(input, init) {
      const bot = instances[turn++ % instances.length];
      const response = await bot?.fetch(new Request(input, init)) ?? new Response(null, { status: 502 });
      answered.push({ status: response.status, body: await response.clone().json().catch(() => undefined) });
      return response;
    },
  });
  const alice = stage.client("alice", { encryption: encryption && EVERYBODY });
  const seen: string[] = [];
  const instance: WakeScene["instance"] = (options) => {
    const bot = stage.client("bot", {
      store,
      encryption: encryption && EVERYBODY,
      wake: { secret: SECRET },
      sync,
      ...options,
    });
    void bot.fetch;
    bot.on("m.room.message", async ({ sender, room_id, content }, { session }) => {
      if (sender !== "@alice:localhost") return;
      await bot.sendText(room_id, `${++session.count}: ${content.body}`);
    }, { session: counter, sequential: true });
    return bot;
  };
  const bot = instance();
  instances.push(bot);
  if (isWoken) await bot.registerWake(URL_OF_BOT);
  const roomId = await alice.createRoom({
    preset: "public_chat",
    initialState: encryption ? ENCRYPTED : [],
  });
  await bot.joinRoom(roomId);
  await bot.syncOnce();
  await alice.syncOnce();
  answered.length = 0;
  alice.on("m.room.message", ({ sender, content }) => {
    if (sender === "@bot:localhost") seen.push(content.body);
  });
  return {
    stage,
    alice,
    roomId,
    instance,
    instances,
    answered,
    async answers() {
      await alice.syncOnce();
      return seen;
    },
    [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose](),
  };
}

/** The body of a notification. */
export function notification(pushkey: string, eventId: string | undefined = "$event"): object {
  const event = eventId === "" ? {} : { event_id: eventId, room_id: "!room" };
  return {
    notification: { ...event, counts: { unread: 1 }, devices: [{ app_id: "greenroom.wake", pushkey }] },
  };
}

/** A request that knocks. */
export function knock(body: unknown, path = "/_matrix/push/v1/notify"): Request {
  return new Request(`https://bot.example${path}`, {
    method: "POST",
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}
