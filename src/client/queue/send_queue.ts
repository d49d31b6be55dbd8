/**
 * What applications see of queues of sends.
 *
 * @module
 */

import type { SendableContent } from "../../api/http/mod.ts";
import type { SendTypedTextOptions } from "../../api/messages/mod.ts";
import type { RoomMessageContent } from "../../types/content/message_content.ts";
import type { EventType } from "../../types/events/event_type.ts";
import type { EventID, RoomID, TransactionID } from "../../types/ids.ts";

/** Options of a send by a queue. */
export type QueuedSendOptions = Pick<SendTypedTextOptions, "disableEncryption" | "key" | "txnId">;

/** Options of a text that a queue sends. */
export type QueuedTextOptions =
  & QueuedSendOptions
  & Pick<SendTypedTextOptions, "html" | "msgtype" | "replyTo" | "thread" | "mentions" | "relatesTo">;

/** What a queue does with a send. */
export interface QueueProgress {
  /** Which send of the queue has changed. */
  readonly send: QueuedSend;
  /**
   * What it is now: in the store; on its way; waiting for the next try, since the server is away or busy;
   * sent; refused for good; or taken out of the queue.
   */
  readonly state: "stored" | "sending" | "waiting" | "sent" | "failed" | "cancelled";
  /** How many sends of the room are in the queue. */
  readonly left: number;
  /** The event, of one that was sent. */
  readonly eventId?: EventID;
  /** Why, of one that waits or has failed. */
  readonly error?: unknown;
}

/** Options of {@link QueueAPI.queue}. */
export interface QueueOptions {
  /**
   * Called with each change of a send, also of those that an earlier process has left.
   * It takes the place of the one before. Default: the one before; at first none.
   */
  onProgress?: (progress: QueueProgress) => void;
}

/** A send in a queue. */
export interface QueuedSend {
  /**
   * Resolves with its transaction ID when it is in the store: from then on it is sent, even if the process
   * ends. Rejects with a {@linkcode ValueError} if the content can't be sent, or the queue is full.
   */
  readonly stored: Promise<TransactionID>;
  /**
   * Resolves with the event when the server has it, also if another process has sent it. Rejects
   * with what the server says if it refuses for good, with an `AbortError` if the send was
   * cancelled, and with a {@linkcode ClientEndedError} if the client ends before (then the next
   * process sends it), or another process has taken it out so long ago that nobody knows what became
   * of it. Unread, it causes no unhandled rejection.
   */
  readonly sent: Promise<EventID>;
  /** The type of the event; empty until it is stored. */
  readonly eventType: string;
  /** The content; empty until it is stored. */
  readonly content: object;
  /**
   * Takes it out of the queue. While a try of it is under way, this waits until that has ended: with a server
   * that does not answer, that takes some five minutes.
   *
   * @returns Whether it is out. False if it has been sent, or was refused.
   *   A try whose answer was lost may have arrived.
   * @throws {ClientEndedError} If the client ends before.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function cancelAll(client: Client, roomId: RoomID): Promise<void> {
   *   for (const send of await client.queue(roomId).list()) await send.cancel();
   * }
   * ```
   */
  cancel(): Promise<boolean>;
}

/** The sends of a room, which leave one after the other. */
export interface SendQueue {
  /**
   * Adds a text.
   *
   * @param text The text; `null` if it is to be made of `html`.
   * @param options Its formatting, its place, and how it is sent.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function report(client: Client, roomId: RoomID, lines: string[]): Promise<void> {
   *   const queue = client.queue(roomId);
   *   for (const line of lines) queue.sendText(line);
   *   await queue.settled();
   * }
   * ```
   */
  sendText(text: string | null, options?: QueuedTextOptions): QueuedSend;
  /**
   * Adds a text that is a notice.
   *
   * @param text The text; `null` if it is to be made of `html`.
   * @param options Its formatting, its place, and how it is sent.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function warn(client: Client, roomId: RoomID): Promise<void> {
   *   await client.queue(roomId).sendNotice("The curtain rises in five minutes.").stored;
   * }
   * ```
   */
  sendNotice(text: string | null, options?: Omit<QueuedTextOptions, "msgtype">): QueuedSend;
  /**
   * Adds a message of any content. Upload its files before.
   *
   * @param content The content; it is copied.
   * @param options How it is sent.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { ContentURI, RoomID } from "@greenroom/matrix/types";
   *
   * export function showPoster(client: Client, roomId: RoomID, url: ContentURI): void {
   *   client.queue(roomId).sendMessage({ msgtype: "m.image", body: "poster.png", url });
   * }
   * ```
   */
  sendMessage(content: RoomMessageContent, options?: QueuedSendOptions): QueuedSend;
  /**
   * Adds an event of any type that is no state.
   *
   * @param eventType Its type.
   * @param content Its content; it is copied.
   * @param options How it is sent.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { EventID, RoomID } from "@greenroom/matrix/types";
   *
   * export function applaud(client: Client, roomId: RoomID, event_id: EventID): void {
   *   const relation = { rel_type: "m.annotation", event_id, key: "👏" } as const;
   *   client.queue(roomId).sendMessageEvent("m.reaction", { "m.relates_to": relation });
   * }
   * ```
   */
  sendMessageEvent<T extends EventType>(
    eventType: T,
    content: SendableContent<T, "message">,
    options?: QueuedSendOptions,
  ): QueuedSend;
  /**
   * What is in the queue, in order, with what an earlier process has left.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function waiting(client: Client, roomId: RoomID): Promise<number> {
   *   return (await client.queue(roomId).list()).length;
   * }
   * ```
   */
  list(): Promise<QueuedSend[]>;
  /**
   * Resolves when the queue is empty: each send has arrived, or was refused or cancelled.
   * Rejects if the client ends before.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function sayGoodbye(client: Client, roomId: RoomID): Promise<void> {
   *   client.queue(roomId).sendText("Goodbye!");
   *   await client.queue(roomId).settled();
   *   await client.close();
   * }
   * ```
   */
  settled(): Promise<void>;
}

/** The operation on queues. */
export interface QueueAPI {
  /**
   * The queue of a room: what is added to it leaves in that order,
   * without being awaited, one after the other.
   *
   * A send is in the `store` before it leaves, with its transaction ID. So it is sent once, though the
   * process ends at any moment: the next one goes on when it has handled the first sync of a start, begins a
   * pass (`syncOnce()`), or has this called for the room. While the server is away or busy, the queue waits,
   * and tries again after up to a minute. A send that the server refuses for good, or itself fails at 30
   * times, is taken out and logged, and those behind it go on. Homeservers forget transaction IDs after a
   * day or so: a send whose answer was lost may come twice if the next process begins later than that.
   *
   * A room's queue holds 1,000 sends. Without a `store` they end with the client.
   * In a handler, a send that is added again after a crash is the same.
   *
   * @param roomId The room.
   * @param options What is called with the progress of the queue.
   * @throws {ValueError} If the room's ID can't be one.
   * @example
   * ```ts
   * import { Client, MemoryStore } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = homeserver.createUser("bot");
   * const { baseUrl, fetch } = homeserver;
   * const store = new MemoryStore(); // or one that outlives the process
   * await using bot = new Client({ baseUrl, fetch, accessToken, store });
   * const queue = bot.queue(await bot.createRoom());
   * queue.sendText("One");
   * const two = queue.sendText("Two");
   * console.assert((await two.sent).startsWith("$"));
   * ```
   */
  queue(roomId: RoomID, options?: QueueOptions): SendQueue;
}
