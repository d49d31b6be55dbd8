/**
 * Clients on an in-process homeserver, with a clock that stands still.
 *
 * @module
 */

import { Client, type ClientOptions } from "@greenroom/matrix";
import { Homeserver, type HomeserverOptions, TestClock, type TestUser } from "@greenroom/matrix/testing";
import { systemClock } from "../../../src/base/clock.ts";
import { recordingLogger } from "../../actors/kernel/support.ts";

/** A homeserver and what is needed around it. */
export interface ClientStage extends AsyncDisposable {
  readonly homeserver: Homeserver;
  readonly clock: TestClock;
  /** What the clients have logged. */
  readonly log: ReturnType<typeof recordingLogger>;
  /** A client of a user, who is made if there is none of the name. It is closed in the end. */
  client(name: string, options?: Partial<ClientOptions>): Client;
  /** Lets what is ready run for a while: long enough for some requests, but time stands still. */
  settle(): Promise<void>;
  /**
   * Lets what is ready run until something has happened; fails after a thousand rounds and five seconds:
   * what other threads compute, such as hashes, takes no round but time.
   */
  until(condition: () => boolean): Promise<void>;
}

/** Sets up a homeserver. Whatever goes wrong inside it fails the test. */
export function clientStage(options: HomeserverOptions = {}): ClientStage {
  const clock = new TestClock();
  const log = recordingLogger();
  const errors: unknown[] = [];
  const homeserver = new Homeserver({ clock, onError: (error) => errors.push(error), ...options });
  const users = new Map<string, TestUser>();
  const clients: Client[] = [];
  return {
    homeserver,
    clock,
    log,
    client(name, options) {
      const user = users.get(name) ?? homeserver.createUser(name);
      users.set(name, user);
      const client = new Client({
        baseUrl: homeserver.baseUrl,
        fetch: homeserver.fetch,
        accessToken: user.accessToken,
        clock,
        log,
        ...options,
      });
      clients.push(client);
      return client;
    },
    async settle() {
      for (let round = 0; round < 10; round++) await clock.tick(0);
    },
    async until(condition) {
      const end = systemClock.now() + 60_000;
      for (let round = 0; round < 1_000 || systemClock.now() < end; round++) {
        if (condition()) return;
        await clock.tick(0);
      }
      throw new Error(`This did not happen: ${condition}`);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(clients.map((client) => client.close()));
      await homeserver[Symbol.asyncDispose]();
      if (errors.length > 0) {
        throw new AggregateError(errors, "Cannot pass the test: the homeserver failed inside");
      }
    },
  };
}

/** The texts that reach a client's handlers from now on. */
export function heard(client: Client): string[] {
  const texts: string[] = [];
  client.on("m.room.message", ({ content }) => texts.push(content.body));
  return texts;
}
