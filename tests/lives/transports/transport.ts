/**
 * How a bot gets what is new: its author writes the same handlers for each.
 *
 * @module
 */

import { Client, type ClientOptions, type StartOptions, type SyncOnceOptions } from "@greenroom/matrix";
import { DeviceConflictError } from "@greenroom/matrix/errors";
import { Appservice, type Registration } from "@greenroom/matrix/appservice";
import { Bot as KitBot } from "@greenroom/matrix/bot";
import { delay } from "@std/async/delay";
import type { Account } from "../../operations/support/operation.ts";
import type { Door } from "./door.ts";

/**
 * A long poll, by classic or sliding sync; a wake and cron where no process stays; transactions of an
 * application service.
 */
export type Transport = "polling" | "sliding" | "wake" | "transactions";

/** What a bot is made with: the client alone, or the bot kit. */
export type Kind = "client" | "kit";

/** All of them. */
export const TRANSPORTS: readonly Transport[] = ["polling", "sliding", "wake", "transactions"];

/** Those of an ordinary account, which logs in and may have several devices. */
export const OF_ACCOUNTS: readonly Transport[] = ["polling", "sliding", "wake"];

/** An account of a bot, with what its transport needs. */
export interface BotAccount extends Account {
  /** Where the homeserver reaches it, unless it polls. */
  readonly door?: Door;
  /** How it syncs. Default: by the classic sync. */
  readonly sync?: ClientOptions["sync"];
  /** The registration of an application service, whose own user it is. */
  readonly registration?: Registration;
}

/** A process of a bot. */
export interface Running {
  /** What has the handlers. */
  readonly client: Client;
  /** The kit's bot; undefined: it has none. */
  readonly kit: KitBot | undefined;
  /** Makes a pass, as cron would. */
  syncOnce(options?: SyncOnceOptions): Promise<unknown>;
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
  /** What it is made with. */
  readonly kind: Kind;
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

/** What gets events, and has them handled. */
interface Core extends Pick<Running, "client" | "kit" | "syncOnce"> {
  readonly fetch: Client["fetch"];
  start(options: StartOptions): Promise<void>;
  close(): Promise<void>;
}

function coreOf(kind: Kind, options: RunningParts["options"]): Core {
  if (kind === "kit") return coreOfKit(new KitBot({ ...options, rateLimit: false }));
  const client = new Client(options);
  return {
    client,
    kit: undefined,
    fetch: client.fetch,
    syncOnce: (pass) => client.syncOnce(pass),
    start: (start) => client.start(start),
    close: () => client.close(),
  };
}

function coreOfKit(kit: KitBot): Core {
  return {
    client: kit.client,
    kit,
    fetch: (request) => kit.fetch(request),
    syncOnce: (pass) => kit.syncOnce(pass),
    start: () => kit.start({ signals: false }),
    close: () => kit.close(),
  };
}

function polling({ kind, options, account: { sync }, hasSynced }: RunningParts): Running {
  const { client, kit, syncOnce, start, close } = coreOf(kind, { ...options, sync });
  return {
    client,
    kit,
    syncOnce,
    run(first, options) {
      client.on(hasSynced ? "SYNC_STARTED" : "SYNC_SUCCESSFUL", first);
      return start(options);
    },
    end: close,
  };
}

function woken({ kind, options, isReached, death }: RunningParts, door: Door): Running {
  const core = coreOf(kind, { ...options, wake: { secret: SECRET } });
  const { client, kit, syncOnce } = core;
  const ending = new AbortController();
  const over = AbortSignal.any([ending.signal, death]);
  return {
    client,
    kit,
    syncOnce,
    async run(first) {
      door.open(reached(core.fetch, isReached), over);
      for (let isRegistered = false; !over.aborted;) {
        try {
          await syncOnce({ passTimeout: 10_000 });
          if (!isRegistered) await client.registerWake(door.url);
          isRegistered = true;
          first();
        } catch (error) {
          if (error instanceof DeviceConflictError) throw error; // whoever deploys it sees that
          // Else cron comes again.
        }
        await delay(TICK, { signal: over }).catch(() => {});
      }
    },
    async end() {
      ending.abort();
      await core.close();
    },
  };
}

function fedByTransactions(
  { kind, options, hasSynced, isReached, death }: RunningParts,
  registration: Registration,
  door: Door,
): Running {
  const { baseUrl, fetch, store, encryption, lease, clock, log } = options;
  const appservice = new Appservice({
    ...{ registration, baseUrl, fetch, store, encryption, lease, clock, log },
    serverName: "localhost",
  });
  const { botClient: client } = appservice;
  const kit = kind === "kit" ? new KitBot({ appservice, rateLimit: false }) : undefined;
  const ending = new AbortController();
  return {
    client,
    kit,
    syncOnce: (pass) => client.syncOnce(pass),
    run(first, start) {
      client.on(hasSynced ? "SYNC_STARTED" : "SYNC_SUCCESSFUL", first);
      const answer = kit?.fetch ?? appservice.fetch;
      door.open(reached(answer, isReached), AbortSignal.any([ending.signal, death]));
      return kit?.start({ signals: false }) ?? appservice.start(start);
    },
    isBack: () => appservice.ping(),
    async end() {
      ending.abort();
      await (kit ?? appservice).close();
    },
  };
}

/** What answers as long as the network does. */
function reached(answer: (request: Request) => Promise<Response>, isReached: () => boolean): typeof answer {
  return (request) => isReached() ? answer(request) : Promise.resolve(new Response(null, { status: 502 }));
}
