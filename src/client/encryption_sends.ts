/**
 * Sends of `m.room.encryption`: while one is under way, and when it is not known what became of it, nothing goes to the room in clear.
 *
 * @module
 */

import { NetworkError } from "../errors/network_error.ts";
import { MatrixRequestError } from "../errors/request_error.ts";
import { ServiceResponseError } from "../errors/service_response_error.ts";
import type { RoomID } from "../types/ids.ts";

/** Answers that do not say that an earlier try has come to nothing. */
const UNSURE: readonly number[] = [408, 429];

/** A send of `m.room.encryption`. */
export interface EncryptionSend<T> {
  /** Makes the request. */
  readonly send: () => Promise<T>;
  /** Notes that the room is encrypted: called unless the server has refused, or nothing was sent. */
  readonly note: () => Promise<void>;
  /** Gives up on the request. */
  readonly signal: AbortSignal | undefined;
}

/** Knows which rooms are about to be encrypted by this client. */
export class EncryptionSends {
  readonly #underway = new Map<RoomID, Promise<void>>();

  /** Sends, and notes it: if that fails, too, unless it is known that the room is as it was. */
  async run<T>(roomId: RoomID, request: EncryptionSend<T>): Promise<T> {
    const sending = sent(request);
    const settled = Promise.allSettled([this.#underway.get(roomId), sending]).then(() => {
      if (this.#underway.get(roomId) === settled) this.#underway.delete(roomId);
    });
    this.#underway.set(roomId, settled);
    return await sending;
  }

  /** Resolves when it is known of a room, and noted, what became of all sends that have begun. */
  async settled(roomId: RoomID): Promise<void> {
    await this.#underway.get(roomId);
  }
}

async function sent<T>({ send, note, signal }: EncryptionSend<T>): Promise<T> {
  signal?.throwIfAborted();
  try {
    const result = await send();
    await note();
    return result;
  } catch (error) {
    if (signal?.aborted || mayHaveArrived(error)) await note();
    throw error;
  }
}

/** Whether the server may have done what a request asks for, although it has failed. */
function mayHaveArrived(error: unknown): boolean {
  if (error instanceof MatrixRequestError) return error.status >= 500 || UNSURE.includes(error.status);
  return error instanceof NetworkError || error instanceof ServiceResponseError;
}
