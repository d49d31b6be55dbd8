/**
 * An application service on an in-process homeserver, with a user who talks to it.
 *
 * @module
 */

import { type Client, defineSession, MemoryStore, type Store } from "@greenroom/matrix";
import {
  Appservice,
  type AppserviceOptions,
  createRegistration,
  type Registration,
} from "@greenroom/matrix/appservice";
import type { RoomID } from "@greenroom/matrix/types";
import { ENCRYPTED } from "../client/support/encrypted_room.ts";
import { EVERYBODY } from "../support/everybody.ts";
import { type ClientStage, clientStage } from "../client/support/stage.ts";

/** A registration that is the same in all tests. */
export const registration: Registration = {
  ...createRegistration({
    id: "echo",
    url: "https://echo.example",
    serverName: "localhost",
    aliasPrefix: "echo_",
  }),
  as_token: "the-token-of-the-appservice",
  hs_token: "the-token-of-the-homeserver",
};

const counter = defineSession({ name: "counter", per: "room", initial: () => ({ count: 0 }) });

/** Another, of an application service that encrypts. */
export const encryptingRegistration: Registration = {
  ...createRegistration({
    id: "echo",
    url: "https://echo.example",
    serverName: "localhost",
    aliasPrefix: "echo_",
    encryption: true,
  }),
  as_token: registration.as_token,
  hs_token: registration.hs_token,
};

/** An application service and what is around it. */
export interface AppserviceScene extends AsyncDisposable {
  readonly stage: ClientStage;
  readonly alice: Client;
  /** A public room of Alice's. */
  readonly roomId: RoomID;
  readonly store: Store;
  /** Makes an instance, whose ghost answers each message with its number. */
  instance(options?: Partial<AppserviceOptions>): Appservice;
  /** The instance that the homeserver's requests go to; undefined: nobody answers. */
  serving: Appservice | undefined;
  /** The status of each answer to the homeserver. */
  readonly answered: number[];
  /** What the ghost has said. */
  answers(): unknown[];
  /** Sends a transaction by hand. */
  send(id: string, events: unknown, init?: { token?: string; rest?: object }): Promise<Response>;
}

/** Sets the scene. */
export async function appserviceScene(
  { store = new MemoryStore() as Store, isServing = true, encryption = false } = {},
): Promise<AppserviceScene> {
  const stage = clientStage();
  const answered: number[] = [];
  const made: Appservice[] = [];
  const alice = stage.client("alice", { encryption: encryption && EVERYBODY });
  const roomId = await alice.createRoom({
    preset: "public_chat",
    initialState: encryption ? ENCRYPTED : [],
  });
  const used = encryption ? encryptingRegistration : registration;
  const scene: AppserviceScene = {
    stage,
    alice,
    roomId,
    store,
    answered,
    serving: undefined,
    instance(options) {
      const appservice = new Appservice({
        registration: used,
        serverName: "localhost",
        baseUrl: stage.homeserver.baseUrl,
        fetch: stage.homeserver.fetch,
        clock: stage.clock,
        log: stage.log,
        store,
        encryption: encryption && EVERYBODY,
        ...options,
      });
      appservice.on("m.room.message", async ({ room_id, content }, { session }) => {
        await appservice.intent("_echo_parrot").sendText(room_id, `${++session.count}: ${content.body}`);
      }, { session: counter, sequential: true });
      made.push(appservice);
      return appservice;
    },
    answers: () =>
      stage.homeserver.room(roomId).messages
        .filter(({ sender }) => sender === "@_echo_parrot:localhost").map(({ content }) => content.body),
    send: async (id, events, { token = registration.hs_token, rest = {} } = {}) =>
      await scene.serving?.fetch(
        new Request(`https://echo.example/_matrix/app/v1/transactions/${id}`, {
          method: "PUT",
          headers: { authorization: `Bearer ${token}` },
          body: JSON.stringify({ events, ...rest }),
        }),
      ) ?? new Response(null, { status: 502 }),
    async [Symbol.asyncDispose]() {
      await Promise.all(made.map((each) => each.close()));
      await stage[Symbol.asyncDispose]();
    },
  };
  stage.homeserver.addAppservice(used, async (request) => {
    const response = await scene.serving?.fetch(request) ?? new Response(null, { status: 502 });
    answered.push(response.status);
    return response;
  });
  if (isServing) scene.serving = scene.instance();
  return scene;
}

let count = 0;

/** A message as it is in a transaction. */
export function message(roomId: string, body: string, event: object = {}): object {
  return {
    type: "m.room.message",
    event_id: `$event${++count}`,
    room_id: roomId,
    sender: "@alice:localhost",
    origin_server_ts: 1,
    content: { msgtype: "m.text", body },
    ...event,
  };
}
