/**
 * What is kept of a conversation that waits, of the answer that it has taken,
 * and which types of event the bot listens to for conversations alone.
 *
 * Of answers that several users give, which one is handled first depends on what else they have said.
 * So it is committed which one is taken, before anything comes of it: after a crash no other is.
 *
 * @module
 */

import { type Client, defineSession, type HandlerContext } from "../../mod.ts";
import type { UserID } from "../../types.ts";
import type { KeptEvent, Step, Wait } from "./run/mod.ts";

/** A conversation that waits. */
export interface ConversationRecord {
  /** What it began with. */
  readonly start: KeptEvent;
  /** Whose it is. */
  readonly owner: UserID;
  /** The command that began it; empty: none did. */
  readonly command: string;
  /** What was done. */
  readonly steps: readonly Step[];
  readonly wait: Wait;
  /** The timer of its end. */
  readonly timer: string;
  /** The delivery of an answer that anybody could give, once it is accepted: after a crash it comes again. */
  readonly taken?: string;
}

/** The conversations that wait, by their IDs. */
export const CONVERSATIONS = defineSession<{ record: ConversationRecord | undefined }>({
  name: "bot.conversations",
  per: () => undefined,
  initial: () => ({ record: undefined }),
});

/** Notes which answer a conversation has taken, if others may come before it after a crash. */
export async function noteTaken(
  { sessions }: Pick<Client, "sessions">,
  { id, record, deliveryId }: {
    readonly id: string;
    readonly record: ConversationRecord;
    readonly deliveryId: string | undefined;
  },
): Promise<void> {
  if (deliveryId === undefined || record.wait.from !== undefined || record.taken === deliveryId) return;
  await sessions.update(CONVERSATIONS, id, () => ({ record: { ...record, taken: deliveryId } }));
}

/** Notes that an answer that was taken does not come again. */
export async function forgetTaken(
  { sessions }: Pick<Client, "sessions">,
  id: string,
  deliveryId: string,
): Promise<void> {
  await sessions.update(CONVERSATIONS, id, ({ record }) => {
    if (record === undefined) return null;
    const { taken, ...rest } = record;
    return { record: taken === deliveryId ? rest : record };
  });
}

const WAITED = defineSession({
  name: "bot.waited",
  per: () => undefined,
  initial: (): { types: readonly string[] } => ({ types: [] }),
});
const KEY = "types";
/** How many types are remembered; the oldest are forgotten. */
const MAX_TYPES = 1_000;

/** Notes types of event that conversations wait for, for processes that begin later. */
export function noteTypes(context: HandlerContext, types: readonly string[]): void {
  context.updateSession(WAITED, KEY, (before) => ({
    types: [...new Set([...before.types, ...types])].slice(-MAX_TYPES),
  }));
}

/** The types of event that conversations of earlier processes wait for. */
export async function keptTypes({ sessions }: Pick<Client, "sessions">): Promise<readonly string[]> {
  return (await sessions.read(WAITED, KEY))?.types ?? [];
}
