/**
 * Text that comes in pieces, as messages that grow by edits.
 *
 * @module
 */

import { type Clock, relationTo } from "../../../mod.ts";
import type { EventID, RoomMessageContent, UserID } from "../../../types.ts";
import type { OptionNames } from "../../errors/known_names.ts";
import { isCutOff } from "../run/mod.ts";
import type { BotMessage } from "./bot_message.ts";
import { closeMarkdown } from "../text/mod.ts";
import { contentOf, notifiedBy, type Placing, write, type WriteOptions } from "./writing.ts";

/** Options of {@linkcode BotRoom.stream}. */
export interface StreamOptions extends Pick<WriteOptions, "msgtype" | "mentions"> {
  /** Whether to begin a thread with the event, if it is in none. Default: false. */
  inThread?: boolean;
  /** The shortest time between two edits, in milliseconds. Default: 1,000. */
  interval?: number;
  /** What to say when the text fails midway. Default: `*(interrupted)*`. */
  note?: string;
}

export const STREAM: OptionNames<StreamOptions> = {
  ...{ msgtype: true, mentions: true, inThread: true, interval: true, note: true },
};

/** What became of an answer that was sent in pieces. */
export interface Streamed {
  /** The messages, in order; none if no text came. */
  readonly messages: readonly BotMessage[];
  /** All of it, up to the latest piece. */
  readonly text: string;
}

/** The same, as a step of a run comes to it. */
interface StreamedEvents extends Pick<Streamed, "text"> {
  readonly events: readonly EventID[];
}

/** What {@link streamText} works with. */
export interface StreamParts extends StreamOptions {
  /** Measures the time between edits. */
  readonly clock: Clock;
  /** Sends a message, after what was said before. */
  readonly send: (content: RoomMessageContent, options: { readonly key: string }) => Promise<EventID>;
  readonly signal: AbortSignal;
  readonly msgtype: "m.notice" | "m.text" | "m.emote";
  readonly placing: Placing;
  /** The same when the handler runs again, and no other stream of it has it. */
  readonly name: string;
}

/** A message as it was sent last. */
interface Shown {
  readonly event: EventID;
  readonly text: string;
  /** Whether it says what it does by an edit. */
  readonly isEdited: boolean;
}

/** Sends text as it comes. */
export async function streamText(pieces: AsyncIterable<string>, parts: StreamParts): Promise<StreamedEvents> {
  const { clock, signal, interval = 1_000, note = "*(interrupted)*" } = parts;
  const shown: Shown[] = [];
  const told = new Set<UserID | "room">();
  let text = "";
  let last = -Infinity;
  let showing: Promise<void> = Promise.resolve();
  let isShowing = false;
  let failure: unknown;
  const show = (whole: string): Promise<void> => {
    isShowing = true;
    last = clock.now();
    showing = showAll(whole, shown, { ...parts, told }).catch((error) => {
      failure = error;
    }).finally(() => isShowing = false);
    return showing;
  };
  const finish = async (whole: string): Promise<void> => {
    await showing;
    if (failure !== undefined) throw failure;
    await showAll(whole, shown, { ...parts, told });
    // What an earlier run has sent first, the server takes for this run's: only an edit is sure, since
    // none of an earlier run is taken for it.
    for (const [index, each] of shown.entries()) if (!each.isEdited) shown[index] = { ...each, text: "" };
    await showAll(whole, shown, { ...parts, told });
  };
  try {
    for await (const piece of until(signal, pieces)) {
      text += piece;
      if (failure !== undefined) throw failure;
      // While an edit is on its way no other is sent: the server's pace is kept.
      if (isShowing || clock.now() - last < interval) continue;
      const closed = closeMarkdown(text);
      if (closed.trim() !== "") void show(closed); // else it may yet become anything
    }
  } catch (error) {
    if (isCutOff(error)) throw error; // it is streamed again
    await finish(text.trim() === "" ? "" : `${closeMarkdown(text).trimEnd()}\n\n${note}`);
    throw error;
  }
  await finish(text);
  return { events: shown.map(({ event }) => event), text };
}

/** Brings all messages to what the text says now. */
async function showAll(
  text: string,
  shown: Shown[],
  parts: StreamParts & {
    /** Who has been notified: nobody is again, by an edit. */
    readonly told: Set<UserID | "room">;
  },
): Promise<void> {
  const { send, msgtype, placing, name, told } = parts;
  if (text.trim() === "") return;
  const messages = await write(text);
  for (const [index, written] of messages.entries()) {
    const before = shown[index];
    const text = written.html ?? written.body; // marks that are escaped are not in the body
    if (before?.text === text) continue;
    const mentions = notifiedBy(written, index, parts.mentions).filter((each) => !told.has(each));
    for (const each of mentions) told.add(each);
    const make = (relatesTo: Parameters<typeof contentOf>[1]["relatesTo"]) =>
      contentOf(written, { msgtype, mentions, relatesTo });
    if (before === undefined) {
      const content = make(relationTo(index === 0 ? placing : { thread: placing.thread }));
      const event = await send(content, { key: `${name} ${index}` });
      shown[index] = { event, text, isEdited: false };
    } else {
      const content = make({ rel_type: "m.replace", event_id: before.event });
      // An earlier run may have sent the same, and something else after it.
      await send(content, { key: `${name} ${crypto.randomUUID()}` });
      shown[index] = { event: before.event, text, isEdited: true };
    }
  }
}

/**
 * The pieces until a signal ends them; what makes them is ended then, without waiting for it.
 *
 * @throws The signal's reason.
 */
async function* until(signal: AbortSignal, pieces: AsyncIterable<string>): AsyncIterableIterator<string> {
  const iterator = pieces[Symbol.asyncIterator]();
  const ended = Promise.withResolvers<never>();
  ended.promise.catch(() => {});
  const end = () => ended.reject(signal.reason);
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  try {
    for (;;) {
      const { value, done } = await Promise.race([iterator.next(), ended.promise]);
      if (done) return;
      yield value;
    }
  } finally {
    signal.removeEventListener("abort", end);
    iterator.return?.()?.catch(() => {});
  }
}
