/**
 * An application service on a Synapse of its own, which has its registration.
 *
 * @module
 */

import { Client, type ClientOptions, defineSession, MemoryStore } from "@greenroom/matrix";
import {
  Appservice,
  type AppserviceOptions,
  createRegistration,
  type Registration,
  registrationToYaml,
} from "@greenroom/matrix/appservice";
import type { RoomID } from "@greenroom/matrix/types";
import { Synapse } from "../../../tools/synapse.ts";
import { EVERYBODY } from "../../support/everybody.ts";
import { within } from "./deadline.ts";
import { newUser } from "./synapse.ts";

const counter = defineSession({ name: "counter", per: "room", initial: () => ({ count: 0 }) });

/** What of an application service's scene may differ. */
interface AppserviceSceneOptions {
  /** Whether all encrypt. Default: no. */
  readonly encryption?: boolean;
  /** How Alice and the application service encrypt. Default: to all devices, and accepting all. */
  readonly how?: ClientOptions["encryption"];
}

/** A Synapse with an application service, whose ghost answers each message with its number. */
export async function appserviceScene(
  { encryption = false, how = EVERYBODY }: AppserviceSceneOptions = {},
) {
  const folder = await Deno.makeTempDir({ prefix: "greenroom-appservice-" });
  let serving: Appservice | undefined;
  const statuses: number[] = [];
  const listener = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    const response = await serving?.fetch(request) ?? new Response(null, { status: 502 });
    statuses.push(response.status);
    return response;
  });
  const registration: Registration = createRegistration({
    id: "echo",
    url: `http://127.0.0.1:${listener.addr.port}`,
    serverName: "localhost",
    aliasPrefix: "echo_",
    encryption,
  });
  await Deno.writeTextFile(`${folder}/registration.yaml`, registrationToYaml(registration));
  const synapse = await Synapse.start({
    appservices: [`${folder}/registration.yaml`],
    print() {},
  });
  const store = new MemoryStore();
  const closing: (() => Promise<unknown>)[] = [];
  const instance = (options: Partial<AppserviceOptions> = {}): Appservice => {
    const made = new Appservice({
      registration,
      baseUrl: synapse.baseUrl,
      serverName: "localhost",
      store,
      log: false,
      encryption: encryption && how,
      ...options,
    });
    made.on("INVITE", async ({ room_id, state_key }) => void await made.intent(state_key).joinRoom(room_id));
    made.on("m.room.message", async ({ room_id, content }, { session }) => {
      await made.intent("_echo_parrot").sendText(room_id, `${++session.count}: ${content.body}`);
    }, { session: counter, sequential: true });
    closing.push(() => made.close());
    return made;
  };
  const user = await newUser(synapse, "alice", { unlimited: "people" });
  const options: ClientOptions = {
    baseUrl: synapse.baseUrl,
    accessToken: user.accessToken,
    log: false,
    encryption: encryption && how,
  };
  const alice = new Client(options);
  const seen: { readonly roomId: RoomID; readonly sender: string; readonly body: string }[] = [];
  let told = Promise.withResolvers<void>();
  alice.on("m.room.message", ({ room_id: roomId, sender, content }) => {
    if (sender === user.userId) return;
    seen.push({ roomId, sender, body: content.body });
    told.resolve();
    told = Promise.withResolvers();
  });
  const running = alice.start();
  return {
    synapse,
    registration,
    alice,
    statuses,
    instance,
    /** Answers from now on; undefined: nobody does. */
    serve: (appservice: Appservice | undefined) => serving = appservice,
    /** What Alice has read, when it is so much. */
    async read(count: number): Promise<string[]> {
      while (seen.length < count) await within(told.promise, "the ghost answers");
      return seen.map(({ body }) => body);
    },
    senders: () => [...new Set(seen.map(({ sender }) => sender))],
    async [Symbol.asyncDispose]() {
      await alice.close();
      await running;
      for (const close of closing) await close();
      await synapse.stop();
      await listener.shutdown();
      await Deno.remove(folder, { recursive: true });
    },
  };
}
