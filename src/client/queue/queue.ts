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

const OPTIONS: OptionNames<QueueOptions> = { onProgress: true };

/** The queues of a client. */
export class SendQueues implements QueueAPI {
  readonly #parts: QueueParts;
  readonly #rooms = new Map<RoomID, RoomQueue>();
  readonly #ended = new AbortController();

  /** @param parts What they work with. */
  constructor(parts: QueueParts) {
    this.#parts = parts;
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
    const queue = this.#rooms.get(roomId) ?? this.#make(roomId);
    if (onProgress !== undefined) queue.onProgress = onProgress;
    return queue;
  };

  /** Goes on with what an earlier process has left. */
  async resume(): Promise<void> {
    let after: readonly [RoomID, string] | undefined;
    do {
      const { value } = await this.#parts.kept.list(QUEUED, { after }).next();
      const roomId = value?.key[0] as RoomID | undefined; // the rest of the page is read by the room's queue
      if (roomId !== undefined) this.#rooms.get(roomId) ?? this.#make(roomId);
      after = roomId && [roomId, "~"]; // behind all of the room
    } while (after !== undefined);
  }

  #make(roomId: RoomID): RoomQueue {
    const queue = new RoomQueue(roomId, this.#parts, this.#ended.signal);
    this.#rooms.set(roomId, queue);
    return queue;
  }
}
