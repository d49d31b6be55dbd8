/**
 * The handlers of the bots: they answer each message of others, and count their answers in a
 * session.
 *
 * @module
 */

import { type Client, defineSession } from "@greenroom/matrix";
import { delay } from "@std/async/delay";
import type { LedgerEntry } from "./ledger.ts";

/** Options of {@link answerMessages}. */
export interface AnsweringOptions {
  /** The bot's own user ID: messages of others are answered. */
  readonly userId: string;
  /** Records what happens. */
  readonly note: (entry: LedgerEntry) => void;
  /** Called when a handler begins and ends. */
  readonly tell: (line: "begins answer" | "ends answer") => void;
}

/** How often a handler waits a little while, and how long, in milliseconds. */
const HESITATION = { odds: 0.3, ms: 250 };
/** Of so many messages, one is repeated by a handler that has no session. */
const ECHOES = 4;

const counter = defineSession({ name: "answers", per: "room", initial: () => ({ answered: 0 }) });

/** The number of a message that is to be answered. */
function numberOf(body: string): number | undefined {
  const number = /^peer .* (\d+)$/.exec(body)?.[1];
  return number === undefined ? undefined : Number(number);
}

/** What a message with a number is repeated as; undefined if it is not. */
export function echoOf(number: number): string | undefined {
  return number % ECHOES === 0 ? `echo of ${number}` : undefined;
}

/** Adds the handlers to a client. */
export function answerMessages(client: Client, { userId, note, tell }: AnsweringOptions): void {
  client.on("m.room.message", async (event, ctx) => {
    const { sender, event_id: eventId, room_id: roomId, content: { body } } = event;
    const number = sender === userId ? undefined : numberOf(body);
    if (number === undefined) return;
    note({ kind: "received", eventId, body });
    tell("begins answer");
    await hesitate();
    const text = `reply ${++ctx.session.answered} to ${number}`;
    const replyId = await noted(`answer ${number}`, client.sendText(roomId, text, { key: "reply" }));
    note({ kind: "answered", eventId, text, replyId });
    await hesitate();
    tell("ends answer");
  }, { session: counter, sequential: true });
  client.on("m.room.message", async (event) => {
    const { sender, event_id: eventId, room_id: roomId, content: { body } } = event;
    const text = sender === userId ? undefined : echoOf(numberOf(body) ?? NaN);
    if (text === undefined) return;
    await hesitate();
    note({ kind: "echoed", eventId, echoId: await noted(text, client.sendText(roomId, text)) });
  });
  client.on("UNDECRYPTABLE", ({ event: { event_id: eventId }, code, reason }) => {
    note({ kind: "undecryptable", eventId, code, reason: reason.message });
  });
  client.on("EVENT_QUARANTINED", ({ id: eventId, attempts }) => {
    note({ kind: "quarantined", eventId, attempts });
  });
  client.on("HANDLER_ERROR", ({ error }) => {
    note({ kind: "failed", what: "a handler", error: describe(error) });
  });

  async function noted<Result>(what: string, sending: Promise<Result>): Promise<Result> {
    try {
      return await sending;
    } catch (error) {
      note({ kind: "failed", what, error: describe(error) });
      throw error;
    }
  }
}

/** An error and what led to it, in a line. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : ` because of ${describe(error.cause)}`;
  return `${error.name}: ${error.message}${cause}`;
}

async function hesitate(): Promise<void> {
  if (Math.random() < HESITATION.odds) await delay(Math.random() * HESITATION.ms);
}
