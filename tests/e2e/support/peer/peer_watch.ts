/**
 * Waits for what a peer tells.
 *
 * @module
 */

import { PATIENCE_MS } from "../deadline.ts";
import type {
  PeerEvent,
  PeerInvite,
  PeerMember,
  PeerMessage,
  PeerToDevice,
  PeerUndecryptable,
} from "./peer_event.ts";

/** How much of what was seen a failure tells of. */
const TOLD = 15;
const WIDTH = 300;

/** An event of one kind. */
type EventOf<K extends PeerEvent["event"]> = Extract<PeerEvent, { event: K }>;

/**
 * Collects what a peer tells. Who waits for something is answered from the past too, and fails
 * after half a minute with what came instead.
 */
export class PeerWatch {
  /** All that the peer has told. */
  readonly seen: PeerEvent[] = [];
  readonly #waiting = new Set<(event: PeerEvent) => void>();

  /** Takes what the peer tells. */
  tell(event: PeerEvent): void {
    this.seen.push(event);
    for (const look of [...this.#waiting]) look(event);
  }

  /** The first event of some kinds that fits, of those that have come and those that will. */
  async first<K extends PeerEvent["event"]>(
    kinds: K | readonly K[],
    fits: (event: EventOf<K>) => boolean = () => true,
  ): Promise<EventOf<K>> {
    const wanted: readonly string[] = [kinds].flat();
    const isIt = (event: PeerEvent): event is EventOf<K> =>
      wanted.includes(event.event) && fits(event as EventOf<K>); // it is of one of those kinds
    const past = this.seen.find(isIt);
    if (past !== undefined) return past;
    const { promise, resolve, reject } = Promise.withResolvers<EventOf<K>>();
    const look = (event: PeerEvent) => {
      if (isIt(event)) resolve(event);
    };
    this.#waiting.add(look);
    const late = () => reject(new Error(`No such ${wanted.join(" or ")} came: ${this.#told()}`));
    const timer = setTimeout(late, PATIENCE_MS);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(look);
    }
  }

  /** What came first of an event of a room: that it was read, or that it could not be. */
  outcome(eventId: string): Promise<PeerMessage | PeerUndecryptable> {
    return this.first(["message", "undecryptable"], (event) => event.eventId === eventId);
  }

  /** Waits for a message, encrypted or not, that fits. */
  message(fits: (message: PeerMessage) => boolean): Promise<PeerMessage> {
    return this.first("message", fits);
  }

  /** Waits for an event that the peer can't decrypt. */
  undecryptable(fits?: (event: PeerUndecryptable) => boolean): Promise<PeerUndecryptable> {
    return this.first("undecryptable", fits);
  }

  /** Waits for a to-device message. */
  toDevice(fits: (message: PeerToDevice) => boolean): Promise<PeerToDevice> {
    return this.first("to_device", fits);
  }

  /** Waits for the peer's invitation to a room. */
  invitation(roomId: string): Promise<PeerInvite> {
    return this.first("invite", (event) => event.roomId === roomId);
  }

  /** Waits until the peer has seen a membership. */
  member(roomId: string, userId: string, membership = "join"): Promise<PeerMember> {
    const fits = (event: PeerMember) => event.roomId === roomId && event.userId === userId;
    return this.first("member", (event) => fits(event) && event.membership === membership);
  }

  #told(): string {
    const lines = this.seen.slice(-TOLD).map((event) => JSON.stringify(event).slice(0, WIDTH));
    return `the peer told of ${this.seen.length} events, at last of\n${lines.join("\n")}`;
  }
}
