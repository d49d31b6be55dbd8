/**
 * What an operation test plays with: users of its own, and a record of the operations that they
 * called.
 *
 * @module
 */

import { Client, type ClientOptions } from "@greenroom/matrix";
import type { RoomID, RoomMemberContent, UserID } from "@greenroom/matrix/types";
import type { Unlimited } from "../../../tools/synapse/exceptions.ts";
import { recordingFetch } from "../../support/recording_fetch.ts";
import type { Account, Operation, OperationsHost } from "./operation.ts";

/** A user with a client that is logged in. */
export type Player = Client & Omit<Account, "deviceId" | "accessToken">;

/** The users and clients of one run; disposing of it closes them. */
export class Scene implements AsyncDisposable {
  /** The operations that have been called. */
  readonly called: Set<string> = new Set();
  readonly host: OperationsHost;
  readonly #clients: Client[] = [];

  constructor(host: OperationsHost) {
    this.host = host;
  }

  /**
   * A fresh user.
   *
   * @param options.unlimited Why it has no rate limits. Default: it has those of the homeserver.
   */
  async player(
    name: string,
    { unlimited, ...options }: Partial<ClientOptions> & { readonly unlimited?: Unlimited } = {},
  ): Promise<Player> {
    const { userId, deviceId, accessToken, password } = await this.host.register(name, unlimited);
    const client = this.client({ mxid: userId, deviceId, accessToken, ...options });
    return Object.assign(client, { userId, password });
  }

  /** Fresh users, in the order of their names. */
  async players<const Names extends readonly string[]>(
    ...names: Names
  ): Promise<{ [_ in keyof Names]: Player }> {
    return await Promise.all(names.map((name) => this.player(name))) as { [_ in keyof Names]: Player };
  }

  /** Fresh users whom no rate limits hold back, in the order of their names. */
  async people<const Names extends readonly string[]>(
    ...names: Names
  ): Promise<{ [_ in keyof Names]: Player }> {
    const people = names.map((name) => this.player(name, { unlimited: "people" }));
    return await Promise.all(people) as { [_ in keyof Names]: Player };
  }

  /** A client that is not logged in. */
  client(options: Partial<ClientOptions> = {}): Client {
    const { baseUrl, fetch } = this.host;
    const client = new Client({ baseUrl, fetch, ...options });
    this.#clients.push(client);
    return this.#recorded(client);
  }

  /** A name that no other test uses, for aliases and the like. */
  unique(name: string): string {
    return `${name}-${crypto.randomUUID().slice(0, 8)}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
  }

  #recorded(client: Client): Client {
    for (const operations of [client, client.raw] as unknown as Record<string, unknown>[]) {
      for (const name in operations) { // also those that the class has
        if (typeof operations[name] !== "function") continue;
        const operation = operations[name];
        const recorded = (...args: unknown[]) => {
          this.called.add(name);
          return operation(...args);
        };
        Object.assign(operations, { [name]: recorded });
      }
    }
    return client;
  }
}

/** The same homeserver, reached by another `fetch`. */
export function withFetch(host: OperationsHost, fetch: OperationsHost["fetch"]): OperationsHost {
  const { baseUrl, serverName } = host;
  return { baseUrl, serverName, fetch, register: (name, unlimited) => host.register(name, unlimited) };
}

/**
 * Runs an operation test, and makes sure that it does what it says and that its requests are as the
 * specification says.
 */
export async function runOperation(operation: Operation, host: OperationsHost): Promise<void> {
  const { fetch, problems } = recordingFetch(host.fetch);
  await using scene = new Scene(withFetch(host, fetch));
  await operation.run(scene);
  const unmeant = problems.filter((problem) => !operation.breaks?.some((rule) => problem.endsWith(rule)));
  if (unmeant.length > 0) throw new Error(`What was sent is not what Matrix says:\n${unmeant.join("\n")}`);
  const idle = operation.covers.filter((name) => !scene.called.has(name));
  if (idle.length > 0) throw new Error(`Cannot say that this covers ${idle.join(", ")}: it never calls them`);
}

/** A public room in which all players are; the first one made it. */
export async function roomOf(creator: Player, ...others: readonly Player[]): Promise<RoomID> {
  const roomId = await creator.createRoom({ preset: "public_chat" });
  for (const player of others) await player.joinRoomById(roomId);
  return roomId;
}

/** A user ID that does not exist. */
export function nobody(scene: Scene): UserID {
  return `@${scene.unique("nobody")}:${scene.host.serverName}`;
}

/** The content of a member event, with whatever else stands in it. */
export type Member = RoomMemberContent & { readonly [key: string]: unknown };

/** What a user is to a room, as another one sees it. */
export async function memberOf(observer: Client, roomId: RoomID, stateKey: UserID): Promise<Member> {
  return await observer.getStateEvent(roomId, "m.room.member", { stateKey });
}
