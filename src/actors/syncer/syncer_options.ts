/**
 * What the Syncer is made of, and the feed that takes the homeserver's place in an application service: it
 * is sent what happens to all of its users, and one client delivers it.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { Membership, type PresenceState } from "../../types/enums.ts";
import type { ActorRef } from "../kernel/mod.ts";
import type { CryptoHolder, SyncCrypto } from "../crypto/mod.ts";
import type { Deliverer, DispatcherHandlers, HandlerRegistry } from "../dispatcher/dispatcher.ts";
import type { OpenStore, StoreHandlers } from "../store/mod.ts";
import type { SyncContext } from "./sync_batch.ts";
import type { FiltersAPI } from "../../api/account/account.ts";
import type { MessagesAPI } from "../../api/messages/mod.ts";
import type { SyncAPI } from "../../api/server/server.ts";
import type { Session } from "../../api/http/mod.ts";
import type { SyncToken, UserID } from "../../types/ids.ts";
import { SyncStream } from "../../types/events/sync_stream.ts";
import { isMember, type SyncParts } from "./sync_parts.ts";

/** What the Syncer is made of. */
export interface SyncerOptions {
  /** The way to the server. */
  readonly requests: SyncRequests;
  /** Says who acts. */
  readonly session: Pick<Session, "mxid" | "userId">;
  /** Has what decrypts. */
  readonly encryption: CryptoHolder<SyncCrypto>;
  /** Is told which syncs follow one another. */
  readonly clearRooms: { answered(answer: SyncAnswer): void; interrupted(): void };
  /**
   * Which messages in clear count in an encrypted room, if there is encryption. Undefined: all do.
   */
  readonly acceptClear: SyncContext["acceptClear"];
  /** Stores room state and the token. */
  readonly store: ActorRef<StoreHandlers>;
  /** Opens the store, the first time. */
  readonly ready: OpenStore;
  /** Delivers events to handlers. */
  readonly dispatcher: ActorRef<DispatcherHandlers>;
  /** Is called after each sync; never rejects. */
  readonly afterSync: () => Promise<void>;
  /** Is told when the handlers have settled of the first response of a start. */
  readonly first: { resolve(): void };
  /** Has the user's presence as others see it. */
  readonly user: { readonly presence: PresenceState };
  /** Says whether the next request has to wait for a handler, and whether there is one of history. */
  readonly registry: Pick<HandlerRegistry, "waits" | "wantsHistory">;
  /** Says whether there is a handler of a type of internal event. */
  readonly deliverer: Pick<Deliverer, "wantsInternal">;
  /**
   * Whether a commit takes time, as on a disk, so that the next response is worth reading
   * meanwhile.
   */
  readonly isDurable: boolean;
  /** Where responses come from, if not from the homeserver. */
  readonly feed?: SyncFeed;
  /** Whether to go on from what was handled, or from what was committed. */
  readonly resume: "handled" | "committed";
  /** Measures waits. */
  readonly clock: Clock;
  /** Logs what goes on. */
  readonly log: Logger;
}

/** What a Syncer asks the homeserver. */
export interface SyncRequests
  extends Pick<SyncAPI, "sync">, Pick<FiltersAPI, "createFilter">, Pick<MessagesAPI, "getMessages"> {
  /** Resolves to the failure itself, or to the error that there never was a homeserver. */
  firstContact(error: unknown, signal: AbortSignal): Promise<unknown>;
}

/** Responses from elsewhere. They follow one another without gaps. */
export interface SyncFeed extends Pick<SyncAPI, "sync"> {
  /** Whether a user is one of those on whose behalf the client is sent events. */
  isOwn(userId: string): boolean;
  /** Whether the responses show what happens in rooms: otherwise that is asked when it matters. */
  readonly showsRooms: boolean;
  /**
   * Ends the client that delivers the responses, since the store has failed for who acts in its handlers, or the
   * token is dead: what they were called with comes again. That client sets it.
   */
  fails?: (cause: unknown) => void;
}

/**
 * Who acts in the responses of a feed: nobody comes and goes, since a room is there as long as any
 * of the users is.
 */
export const NOBODY = "@:" as UserID;

/**
 * Marks what the own users have sent, and invitations of them, in place: such an invitation is an
 * `INVITE`, as it is for a client whose user is invited.
 */
export function markOwn({ rooms }: SyncParts, { isOwn }: Pick<SyncFeed, "isOwn">): void {
  for (const { timeline } of rooms) {
    for (const event of timeline) {
      if (isOwn(event.sender)) event.source |= SyncStream.OWN;
      const isInvited = isMember(event) && event.content.membership === Membership.INVITE;
      if (isInvited && isOwn(event.state_key)) event.source |= SyncStream.INVITED_ROOM;
    }
  }
}

/** A response to a sync. */
export interface SyncAnswer {
  /** Where it begins; undefined: from the start, or nothing is known of that. */
  readonly since: SyncToken | undefined;
  /** Where it ends. */
  readonly nextBatch: SyncToken;
  /** When it was asked for, in milliseconds since the epoch. */
  readonly asked: number;
}
