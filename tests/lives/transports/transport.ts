/**
 * How a bot gets what is new: its author writes the same handlers for each.
 *
 * @module
 */

import { Client, type ClientOptions, type StartOptions } from "@greenroom/matrix";
import { Appservice, type Registration } from "@greenroom/matrix/appservice";
import { delay } from "@std/async/delay";
import type { Account } from "../../operations/support/operation.ts";
import type { Door } from "./door.ts";

/** A long poll; a wake and cron where no process stays; transactions of an application service. */
export type Transport = "polling" | "wake" | "transactions";

/** All of them. */
export const TRANSPORTS: readonly Transport[] = ["polling", "wake", "transactions"];

/** An account of a bot, with what its transport needs. */
export interface BotAccount extends Account {
  /** Where the homeserver reaches it, unless it polls. */
  readonly door?: Door;
  /** The registration of an application service, whose own user it is. */
  readonly registration?: Registration;
}

/** A process of a bot. */
export interface Running {
  /** What has the handlers. */
  readonly client: Client;
  /**
   * Gets what is new until `end()`.
   *
   * @param first Is called when something has come.
   */
  run(first: () => void, options: StartOptions): Promise<void>;
  /** Has the homeserver try at once what it would try later. */
  isBack?(): Promise<unknown>;
  /** Ends it in good order. */
  end(): Promise<void>;
}

/** What a process is made of. */
export interface RunningParts {
  readonly account: BotAccount;
  /** The options of its client. */
  readonly options: ClientOptions & { readonly baseUrl: string | URL };
  /** Whether it has synced before: then nothing need be new. */
  readonly hasSynced: boolean;
  /** Whether a request of the homeserver gets through to it. */
  readonly isReached: () => boolean;
  /** Aborts when it is killed. */
  readonly death: AbortSignal;
}

/** How often cron has it make a pass, in milliseconds. */
const TICK = 250;
const SECRET = "a secret of the bot in the stories";

/** Makes a process, which does nothing yet. */
export function running(parts: RunningParts): Running {
  const { door, registration } = parts.account;
  if (registration !== undefined && door !== undefined) return fedByTransactions(parts, registration, door);
  return door === undefined ? polling(parts) : woken(parts, door);
}

function polling({ options, hasSynced }: RunningParts): Running {
  const client = new Client(options);
  return {
    client,
    run(first, start) {
      client.on(hasSynced ? "SYNC_STARTED" : "SYNC_SUCCESSFUL", first);
      return client.start(start);
    },
    end: () => client.close(),
  };
}

function woken({ options, isReached, death }: RunningParts, door: Door): Running {
  const client = new Client({ ...options, wake: { secret: SECRET } });
  const ending = new AbortController();
  const over = AbortSignal.any([ending.signal, death]);
  return {
    client,
    async run(first) {
      door.open(reached(client.fetch, isReached), over);
      for (let isRegistered = false; !over.aborted;) {
        try {
          await client.syncOnce({ deadline: 10_000 });
          if (!isRegistered) await client.registerWake(door.url);
          isRegistered = true;
          first();
        } catch {
          // Cron comes again.
        }
        await delay(TICK, { signal: over }).catch(() => {});
      }
    },
    async end() {
      ending.abort();
      await client.close();
    },
  };
}

function fedByTransactions(
  { options, hasSynced, isReached, death }: RunningParts,
  registration: Registration,
  door: Door,
): Running {
  const { baseUrl, fetch, store, encryption, lease, clock, log } = options;
  const appservice = new Appservice({
    ...{ registration, baseUrl, fetch, store, encryption, lease, clock, log },
    serverName: "localhost",
  });
  const client = appservice.bot;
  const ending = new AbortController();
  return {
    client,
    run(first, start) {
      client.on(hasSynced ? "SYNC_STARTED" : "SYNC_SUCCESSFUL", first);
      door.open(reached(appservice.fetch, isReached), AbortSignal.any([ending.signal, death]));
      return appservice.start(start);
    },
    isBack: () => appservice.ping(),
    async end() {
      ending.abort();
      await appservice.close();
    },
  };
}

/** What answers as long as the network does. */
function reached(answer: (request: Request) => Promise<Response>, isReached: () => boolean): typeof answer {
  return (request) => isReached() ? answer(request) : Promise.resolve(new Response(null, { status: 502 }));
}
