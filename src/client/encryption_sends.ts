/**
 * Sends of `m.room.encryption`: nothing is sent to the room in clear while one is under way, or
 * after one that may have arrived.
 *
 * @module
 */

import { NetworkError } from "../errors/network_error.ts";
import { MatrixRequestError } from "../errors/request_error.ts";
import { ServiceResponseError } from "../errors/service_response_error.ts";
import type { RoomID } from "../types/ids.ts";

/** Answers after which an earlier try may have succeeded. */
const UNSURE: readonly number[] = [408, 429];

/** A send of `m.room.encryption`. */
export interface EncryptionSend<T> {
  /** Makes the request. */
  readonly send: () => Promise<T>;
  /**
   * Stores that the room is encrypted: called unless the server has refused, or nothing was sent.
   */
  readonly note: () => Promise<void>;
  /** Aborts the request. */
  readonly signal: AbortSignal | undefined;
}

/** The rooms that this client is making encrypted. */
export class EncryptionSends {
  readonly #underway = new Map<RoomID, Promise<void>>();

  /** Sends, and stores it: also after a failure, unless the room is surely as it was. */
  async run<T>(roomId: RoomID, request: EncryptionSend<T>): Promise<T> {
    const sending = sent(request);
    const settled = Promise.allSettled([this.#underway.get(roomId), sending]).then(() => {
      if (this.#underway.get(roomId) === settled) this.#underway.delete(roomId);
    });
    this.#underway.set(roomId, settled);
    return await sending;
  }

  /** Resolves when all sends to a room that have begun have ended, and are stored. */
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
