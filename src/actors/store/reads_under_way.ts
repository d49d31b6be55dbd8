/**
 * What syncs change while state is read or sent.
 *
 * @module
 */

import type { StoredState } from "../../store/device/mod.ts";
import type { RoomID } from "../../types/ids.ts";
import { nameOf } from "./redactable_state.ts";
import type { RoomChange, StateRead } from "./store_protocol.ts";

interface Overtaken {
  readonly roomId: RoomID;
  /** The pieces of state that syncs have changed since the request began. */
  readonly pieces: Set<string>;
  /** Whether members may have changed, too, of whom the syncs did not tell. */
  lossy: boolean;
}

/**
 * The requests under way that read or send state of a room: what a sync has changed since one of them began
 * is newer than its answer.
 */
export class ReadsUnderWay {
  readonly #reads = new Map<StateRead["read"], Overtaken>();

  /** Counts a request as under way, until it ends. */
  begin({ read, roomId }: StateRead): void {
    this.#reads.set(read, { roomId, pieces: new Set(), lossy: false });
  }

  /** Forgets a request. */
  end(read: number): void {
    this.#reads.delete(read);
  }

  /** Notes what a sync response changes of a room, and which stored state it redacts. */
  overtake({ roomId, state, lossy }: RoomChange, redacted: readonly StoredState[]): void {
    for (const read of this.#reads.values()) {
      if (read.roomId !== roomId) continue;
      for (const event of state) read.pieces.add(nameOf(event));
      for (const event of redacted) read.pieces.add(nameOf(event));
      read.lossy ||= lossy;
    }
  }

  /** Those of a room's events that no sync has changed since a request began. Without a request: all. */
  current(events: readonly StoredState[], read: number | undefined): readonly StoredState[] {
    const overtaken = read === undefined ? undefined : this.#reads.get(read);
    if (overtaken === undefined || overtaken.pieces.size === 0) return events; // the usual case
    return events.filter((event) => !overtaken.pieces.has(nameOf(event)));
  }

  /** Whether members may have changed since a request began, without being told. */
  isLossy(read: number | undefined): boolean {
    return read !== undefined && this.#reads.get(read)?.lossy === true;
  }
}
