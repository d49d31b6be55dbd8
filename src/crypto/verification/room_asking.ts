/**
 * Requests that are being sent to rooms: before the server has said under which event ID, nothing tells
 * which answers belong to them.
 *
 * @module
 */

import type { CryptoContext } from "../context/context.ts";
import type { RoomID, UserID } from "../../types/ids.ts";
import { REQUEST_TYPE, type VerificationEvent } from "../megolm/verification_event.ts";
import type { VerificationSend } from "./verification_post.ts";

/** How many messages are kept while a request is being sent. */
const MAX_EARLY = 20;

/** A request that is being sent. */
export interface Asking {
  /** Where. */
  readonly roomId: RoomID;
  /** Who is asked. */
  readonly userId: UserID;
  /** What this device can do. */
  readonly methods: readonly string[];
  /** What the user has said in the meantime. */
  readonly early: VerificationEvent[];
}

/** Keeps them until they were sent. */
export class RoomAsking {
  readonly #context: CryptoContext;
  readonly #asking = new Map<string, Asking>();

  /** @param context Gives names to them. */
  constructor(context: CryptoContext) {
    this.#context = context;
  }

  /** Begins one: what is to be sent. */
  begin(roomId: RoomID, userId: UserID, methods: readonly string[]): VerificationSend {
    const { own, uniqueId } = this.#context;
    const [id, txnId] = [uniqueId(), uniqueId()];
    this.#asking.set(id, { roomId, userId, methods, early: [] });
    const body = `${own.userId} asks to verify each other's keys, which this client can't do in a room`;
    const content = {
      msgtype: REQUEST_TYPE,
      body,
      from_device: own.deviceId,
      methods: [...methods],
      to: userId,
    };
    return { id, roomId, userId, devices: [], type: "m.room.message", content, txnId };
  }

  /** Keeps a message of a verification that is not known: it may be one of these. */
  keep(event: VerificationEvent, room: RoomID): void {
    for (const { roomId, userId, early } of this.#asking.values()) {
      if (room === roomId && event.sender === userId && early.length < MAX_EARLY) early.push(event);
    }
  }

  /** One was sent, or could not be. */
  end(id: string): Asking | undefined {
    const asking = this.#asking.get(id);
    this.#asking.delete(id);
    return asking;
  }
}
