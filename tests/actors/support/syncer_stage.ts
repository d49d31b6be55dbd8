/**
 * A Syncer with its Dispatcher and Store, whose server is a list of answers.
 *
 * @module
 */

import type { SyncCrypto } from "../../../src/actors/crypto/crypto.ts";
import type { SyncContext } from "../../../src/actors/syncer/sync_batch.ts";
import type { RecoveredEvent } from "../../../src/crypto/megolm/mod.ts";
import {
  Deliverer,
  HandlerRegistry,
  HandlerSessions,
  SendIds,
  spawnDispatcher,
} from "../../../src/actors/dispatcher/dispatcher.ts";
import { spawnStore } from "../../../src/actors/store/mod.ts";
import { ClearRooms, spawnSyncer } from "../../../src/actors/syncer/syncer.ts";
import type { SyncRequests } from "../../../src/actors/syncer/syncer_options.ts";
import type { SyncerAPI } from "@greenroom/matrix";
import type { JsonObject, SyncOptions, SyncResponse } from "@greenroom/matrix/types";
import { NetworkError } from "@greenroom/matrix/errors";
import { syncerFacade } from "../../../src/client/client_operations.ts";
import { Supervisor } from "../../../src/actors/kernel/mod.ts";
import { TestClock } from "@greenroom/matrix/testing";
import { recordingLogger } from "../kernel/support.ts";
import { CountingStore } from "./counting_store.ts";
import { joined, message, OWN, timeline } from "./events.ts";

/** What a request is answered with; `undefined` leaves it open until it is ended. */
export type SyncAnswer = JsonObject | Error | undefined;

/** How the stage is set. */
export interface SyncerStageOptions {
  /** The answers to sync requests, in order; behind the last they stay open. */
  answers?: SyncAnswer[];
  /** A store that is there already. */
  kv?: CountingStore;
  /** What to go on from. */
  resume?: "handled" | "committed";
  /** Whether commits take time. Default: true. */
  isDurable?: boolean;
  /** Decrypts. */
  crypto?: Pick<SyncCrypto, "receiveSync">;
  /** Which messages count that come in clear into an encrypted room. */
  acceptClear?: SyncContext["acceptClear"];
  /** Other answers than the usual. */
  requests?: Partial<SyncRequests>;
}

/** A Syncer and what is around it. */
export interface SyncerStage extends AsyncDisposable {
  readonly clock: TestClock;
  readonly kv: CountingStore;
  readonly log: ReturnType<typeof recordingLogger>;
  /** The options of each sync request. */
  readonly asked: SyncOptions[];
  /** The events that waited for their keys and have been handled. */
  readonly settled: RecoveredEvent[];
  /** The answers to come. */
  readonly answers: SyncAnswer[];
  readonly api: SyncerAPI;
  readonly supervisor: Supervisor;
  /** Lets everything run that is ready to. */
  settle(): Promise<void>;
}

/** Sets the stage. */
export async function syncerStage(options: SyncerStageOptions = {}): Promise<SyncerStage> {
  const {
    answers = [],
    kv = new CountingStore(),
    resume = "handled",
    isDurable = true,
    crypto,
    acceptClear,
    requests,
  } = options;
  const clock = new TestClock();
  const log = recordingLogger();
  const asked: SyncOptions[] = [];
  const registry = new HandlerRegistry();
  const store = spawnStore({ kv, log });
  await store.open([]);
  const ready = () => Promise.resolve();
  const sessions = new HandlerSessions({ store, ready });
  const deliverer = new Deliverer(registry, log, sessions, new SendIds({ store, ready }), () => false);
  const settled: RecoveredEvent[] = [];
  const settle = (events: readonly RecoveredEvent[]): Promise<void> =>
    Promise.resolve(void settled.push(...events));
  const dispatcher = spawnDispatcher({
    deliverer,
    store,
    encryption: { crypto: { settle } },
    comesAgain: true,
    maxPending: 100,
    isOver: () => false,
    clock,
    log,
  });
  const syncer = spawnSyncer({
    sync: "classic",
    requests: {
      slide: () => Promise.reject(new Error("No sliding sync here")),
      sync(options = {}) {
        const answer = answers[asked.push(options) - 1];
        if (answer instanceof Error) return Promise.reject(answer);
        return answer === undefined
          ? ended(options.signal)
          : Promise.resolve(answer as unknown as SyncResponse);
      },
      createFilter: () => Promise.resolve("filter"),
      getMessages: () => Promise.reject(new Error("no history in this test")),
      firstContact: (error) => Promise.resolve(error),
      ...requests,
    },
    session: { mxid: OWN, userId: () => Promise.resolve(OWN) },
    encryption: {
      crypto: crypto && {
        start: () => Promise.resolve(),
        receiveSync: (input) => crypto.receiveSync(input),
        idle: () => Promise.resolve(),
      },
    },
    clearRooms: new ClearRooms(clock),
    acceptClear,
    store,
    ready: () => Promise.resolve(),
    dispatcher,
    afterSync: () => Promise.resolve(),
    first: { resolve: () => {} },
    user: { presence: "online" },
    registry,
    deliverer,
    isDurable,
    resume,
    clock,
    log,
  });
  const supervisor = new Supervisor([syncer, dispatcher, store], { log, clock });
  return {
    clock,
    kv,
    log,
    asked,
    settled,
    answers,
    api: syncerFacade(
      { core: { syncer, dispatcher, deliverer }, close: () => supervisor.stop() },
      { registry, followed: new Set(), log },
    ),
    supervisor,
    settle: () => clock.tick(0),
    [Symbol.asyncDispose]: () => supervisor.stop(),
  };
}

function ended(signal: AbortSignal | undefined): Promise<never> {
  if (signal?.aborted) return Promise.reject(signal.reason);
  return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
}

/** A response that brings messages to a room. */
export function response(next_batch: string, ...texts: string[]): JsonObject {
  return joined(timeline(texts.map((text) => message(text))), { next_batch });
}

/** The texts of the messages that handlers get from now on. */
export function heard({ api }: SyncerStage): string[] {
  const texts: string[] = [];
  api.on("m.room.message", ({ content }) => texts.push(content.body));
  return texts;
}

/** The tokens that were asked with. */
export function sinces({ asked }: SyncerStage): unknown[] {
  return asked.map(({ since }) => since);
}

/** What a server that can't be reached is answered by. */
export const UNREACHABLE = new NetworkError("The connection failed");
