/**
 * A send in a queue: its record, and what becomes of it.
 *
 * @module
 */

import { identified, outgoingEvent, type SendingUser } from "../../api/http/mod.ts";
import { type MessagesAPI, type SendHelpersAPI, sendHelpersAPI } from "../../api/messages/mod.ts";
import { checkOptions, type OptionNames } from "../../errors/known_names.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import type { EventType } from "../../types/events/event_type.ts";
import { defineSession } from "../../types/events/define_session.ts";
import type { EventID, RoomID, TransactionID } from "../../types/ids.ts";
import type { QueuedSend, QueuedSendOptions } from "./send_queue.ts";

/** A send as it is stored. */
export interface StoredSend {
  readonly eventType: string;
  readonly content: object;
  readonly txnId: TransactionID;
  readonly disableEncryption: boolean;
}

/** The same with its key. */
export interface Entry {
  readonly key: string;
  readonly record: StoredSend;
}

/** What waits in queues: by the room, and a number that grows. */
export const QUEUED = defineSession({
  name: "greenroom.queue",
  per: "member",
  initial: (): StoredSend => ({ eventType: "", content: {}, txnId: "", disableEncryption: false }),
});

/** A send of the queue. */
export class Queued implements QueuedSend {
  readonly #stored = Promise.withResolvers<TransactionID>();
  readonly #sent = Promise.withResolvers<EventID>();
  readonly #cancel: (send: Queued) => Promise<boolean>;
  /** Ends the wait for its next try. */
  readonly over = new AbortController();
  /** What is stored; undefined until it has its place. */
  entry: Entry | undefined;
  /** Whether it is in the store. */
  isStored = false;
  /** Whether a try of it is under way. */
  isUnderway = false;

  constructor(cancel: (send: Queued) => Promise<boolean>) {
    this.#cancel = cancel;
    this.stored.catch(() => {});
    this.sent.catch(() => {});
  }

  get stored(): Promise<TransactionID> {
    return this.#stored.promise;
  }

  get sent(): Promise<EventID> {
    return this.#sent.promise;
  }

  get eventType(): string {
    return this.entry?.record.eventType ?? "";
  }

  get content(): object {
    return structuredClone(this.entry?.record.content ?? {});
  }

  cancel(): Promise<boolean> {
    return this.#cancel(this);
  }

  hasStored(txnId: TransactionID): void {
    this.isStored = true;
    this.#stored.resolve(txnId);
  }

  hasSent(eventId: EventID): void {
    this.#sent.resolve(eventId);
  }

  /** It won't be sent by this client. */
  fail(error: unknown): void {
    this.#stored.reject(error);
    this.#sent.reject(error);
  }

  /** It is the same as another. */
  follow(twin: Queued): void {
    this.entry = twin.entry;
    const fail = (error: unknown) => this.fail(error);
    twin.stored.then((txnId) => this.hasStored(txnId), fail);
    twin.sent.then((eventId) => this.hasSent(eventId), fail);
  }
}

const OPTIONS: OptionNames<QueuedSendOptions> = { disableEncryption: true, key: true, txnId: true };

/** Nothing asks for this: files are not sent by a queue. */
const NO_FILES = {} as Parameters<typeof sendHelpersAPI>[1];

/** Makes an event with a helper, or hands one out. */
export type Make = (helpers: SendHelpersAPI, add: MessagesAPI["sendMessageEvent"]) => Promise<unknown>;

/**
 * Makes the record of a send, of what is given now.
 *
 * @param make Makes the event.
 * @param options How it is sent.
 * @param roomId The room.
 * @param user Who sends.
 */
export async function storedSend(
  make: Make,
  options: QueuedSendOptions,
  roomId: RoomID,
  user: SendingUser,
): Promise<StoredSend> {
  if (options === null || typeof options !== "object") {
    throw new ValueError("Cannot queue a send: its options must be an object");
  }
  const { txnId } = options;
  if (txnId !== undefined && (typeof txnId !== "string" || txnId === "")) {
    throw new ValueError("Cannot queue a send: its txnId must be a string that is not empty");
  }
  const made = Promise.withResolvers<StoredSend>();
  const record = async (
    type: EventType,
    given: object,
    { disableEncryption = false, ...options }: QueuedSendOptions,
  ) => {
    checkOptions(options, OPTIONS, "queue a send");
    const { eventType, content } = await outgoingEvent(type, "message", given);
    const { txnId } = await identified({ roomId, type: eventType, content }, options, user);
    made.resolve({ eventType, content, txnId, disableEncryption });
  };
  const add = async (_: RoomID, type: EventType, content: object, options: QueuedSendOptions = {}) => {
    await record(type, copyOf(content), options);
    return "" as EventID; // nothing asks for it
  };
  await make(sendHelpersAPI(add, NO_FILES), add);
  return await made.promise;
}

/**
 * Refuses what is no text.
 *
 * @throws {ValueError} If it is neither a string nor `null`.
 */
export function checkText(text: string | null): string | null {
  if (typeof (text ?? "") === "string") return text;
  throw new ValueError("Cannot queue a send: its text must be a string, or null");
}

function copyOf(content: object): object {
  try {
    return JSON.parse(JSON.stringify(content) ?? "null");
  } catch (cause) {
    throw new ValueError("Cannot queue a send: its content can't be written as JSON", { cause });
  }
}
