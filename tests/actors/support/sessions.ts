/**
 * Sessions of handlers, over a store in memory.
 *
 * @module
 */

import type { HandlerContext, SessionDefinition, SessionScope, StoreMutation } from "@greenroom/matrix";
import { HandlerSessions } from "../../../src/actors/dispatcher/dispatcher.ts";
import { spawnStore } from "../../../src/actors/store/mod.ts";
import { defineSession } from "../../../src/types/events/define_session.ts";
import { recordingLogger } from "../kernel/support.ts";
import { CountingStore } from "./counting_store.ts";
import { message, ROOM } from "./events.ts";

/** What these sessions are. */
export interface Counter {
  count: number;
}

/** What a handler does with its session. */
export type Use = (context: HandlerContext<Counter>) => unknown;

/** A store whose commits wait for the test, if it wants that. */
export class GatedStore extends CountingStore {
  gate: PromiseWithResolvers<void> | undefined;

  override async commit(...args: Parameters<CountingStore["commit"]>): Promise<boolean> {
    await this.gate?.promise;
    return await super.commit(...args);
  }
}

/** Opens sessions over a store in memory. */
export async function sessionStage({ kv = new GatedStore() } = {}) {
  const store = spawnStore({ kv, log: recordingLogger() });
  await store.open([]);
  const opened = { count: 0 };
  const sessions = new HandlerSessions({ store, ready: () => Promise.resolve(void opened.count++) });
  const counter = counterOf("room");
  let events = 0;
  /** Runs a handler for an event of a room. */
  const run = (use: Use, { room = ROOM, of = counter }: { room?: string; of?: typeof counter } = {}) =>
    sessions.run({
      definition: of as SessionDefinition<object>,
      event: { room_id: room, ...message(String(++events)) },
      deliveryId: `$${events}-x`,
      call: (context) => use(context as HandlerContext<Counter>),
    });
  /** Counts on, and tells the count. */
  const count = async (room?: string, of?: typeof counter): Promise<number> => {
    let counted = 0;
    await run(({ session }) => void (counted = ++session.count), { room, of });
    return counted;
  };
  return { kv, store, sessions, opened, run, count, [Symbol.asyncDispose]: () => store.stop() };
}

/** A session that counts. */
export function counterOf(per: SessionScope, name = "counter") {
  return defineSession<Counter>({ name, per, initial: () => ({ count: 0 }) });
}

/** What a commit is about. */
export function kinds(commit: readonly StoreMutation[] | undefined): string[] {
  return (commit ?? []).map(({ type, key }) => `${type} ${key.join(" ")}`);
}
