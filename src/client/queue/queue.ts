/**
 * Queues of sends: one for each room, in the client's store.
 *
 * @module
 */

import { checkOptions, type OptionNames } from "../../errors/known_names.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import { checkIdentifier } from "../../types/identifiers.ts";
import type { RoomID } from "../../types/ids.ts";
import { QUEUED } from "./queued.ts";
import { type QueueParts, RoomQueue } from "./room_queue.ts";
import type { QueueAPI, QueueOptions, SendQueue } from "./send_queue.ts";

export type {
  QueueAPI,
  QueuedSend,
  QueuedSendOptions,
  QueuedTextOptions,
  QueueOptions,
  QueueProgress,
  SendQueue,
} from "./send_queue.ts";

/** In how many rooms at once what an earlier process has left is sent; one that has to wait lets the next begin. */
const AT_ONCE = 5;

const OPTIONS: OptionNames<QueueOptions> = { onProgress: true };

/** The queues of a client. */
export class SendQueues implements QueueAPI {
  readonly #parts: QueueParts;
  readonly #rooms = new Map<RoomID, RoomQueue>();
  /** The first login: a later one may be another's, and does not get what it has left in the client. */
  readonly #login: AbortSignal;
  readonly #ended = new AbortController();

  /** @param parts What they work with. */
  constructor(parts: QueueParts) {
    this.#parts = parts;
    this.#login = parts.session.login;
    const end = () => this.#ended.abort();
    parts.done.then(end, end);
  }

  readonly queue = (roomId: RoomID, options: QueueOptions = {}): SendQueue => {
    checkIdentifier("roomId", roomId);
    checkOptions(options, OPTIONS, "make a queue");
    const { onProgress } = options;
    if (onProgress !== undefined && typeof onProgress !== "function") {
      throw new ValueError("Cannot make a queue: onProgress must be a function");
    }
    const queue = this.#of(roomId);
    if (onProgress !== undefined) queue.onProgress = onProgress;
    return queue;
  };

  /** Goes on with what an earlier process, or another one, has left. Resolves when all has been tried. */
  async resume(): Promise<void> {
    if (!this.#parts.isDurable) return;
    const rooms = this.#left();
    await Promise.all(Array.from({ length: AT_ONCE }, async () => {
      for await (const roomId of rooms) {
        const known = this.#rooms.get(roomId);
        const queue = this.#of(roomId);
        if (queue === known) queue.goOn();
        await queue.rested();
      }
    }));
  }

  /** Resolves when each queue has sent all, or waits for its next try. */
  async rested(): Promise<void> {
    await Promise.all(this.#rooms.values().map((queue) => queue.rested()));
  }

  async *#left(): AsyncGenerator<RoomID> {
    let after: readonly [RoomID, string] | undefined;
    do {
      const { value } = await this.#parts.kept.list(QUEUED, { after }).next();
      const roomId = value?.key[0] as RoomID | undefined; // the rest of the page is read by the room's queue
      if (roomId !== undefined) yield roomId;
      after = roomId && [roomId, "~"]; // behind all of the room
    } while (after !== undefined);
  }

  #of(roomId: RoomID): RoomQueue {
    const known = this.#rooms.get(roomId);
    if (known !== undefined && !known.isSpent) return known;
    const { isDurable, session } = this.#parts;
    const queue = new RoomQueue(
      roomId,
      this.#parts,
      this.#ended.signal,
      isDurable || this.#login === session.login,
    );
    this.#rooms.set(roomId, queue);
    return queue;
  }
}
