/**
 * The way of one sync response through Crypto to the Store.
 *
 * @module
 */

import type { TraceParent } from "../../base/telemetry.ts";
import type { CryptoInput, CryptoOutput } from "../../crypto/engine/engine.ts";
import { REQUEST_TYPE, VERIFICATION_PREFIX } from "../../types/content/encryption_content.ts";
import { DecryptionError } from "../../errors/encryption_error.ts";
import { noteEncryption } from "../../types/events/encryption_info.ts";
import type { MatrixEvent, MessageEvent, StateEvent } from "../../types/events/event.ts";
import type { UserID } from "../../types/ids.ts";
import { Membership } from "../../types/enums.ts";
import { isRedacted } from "../../types/checks/event_check.ts";
import type { ActorRef } from "../kernel/mod.ts";
import type { SyncCrypto } from "../crypto/crypto.ts";
import type { CommittedSync, RoomChange, StoreHandlers, SyncChange } from "../store/mod.ts";
import { stateChanges, type SyncContext } from "./sync_batch.ts";
import {
  isMember,
  type RoomPart,
  stateKeyOf,
  type SyncParts,
  type TimelineEvent,
  type Undecryptable,
} from "./sync_parts.ts";

/**
 * A sync response that is checked and decrypted, and is being committed. Its events can be
 * delivered then.
 */
export interface TakenSync {
  /** What it is made of. */
  readonly parts: SyncParts;
  /** What is known of it beside. */
  readonly context: SyncContext;
  /** Earlier events that can be read now. */
  readonly recovered: CryptoOutput["recovered"];
  /** Settles when it has been committed. */
  readonly committed: Promise<CommittedSync>;
  /** Its span, if somebody traces. */
  readonly trace?: { readonly parent: TraceParent; end(error?: unknown): void };
}

/** The actors that take a response in. */
export interface SyncPorts {
  /** Undefined: there is no encryption. */
  readonly crypto: Pick<SyncCrypto, "receiveSync"> | undefined;
  readonly store: Pick<ActorRef<StoreHandlers>, "commitSync">;
}

/**
 * Takes in a response that was joined to what came before: receives keys, decrypts events, and asks the Store
 * to commit. Responses must come in order, one after the other. The next one need not wait for the commit.
 */
export async function takeSync(
  parts: SyncParts,
  context: SyncContext,
  { crypto, store }: SyncPorts,
): Promise<TakenSync> {
  const recovered = crypto === undefined ? [] : await decryptParts(parts, context, crypto);
  const committed = store.commitSync(syncChange(parts, context));
  committed.catch(() => {}); // its delivery rejects with it
  return { parts, context, recovered, committed };
}

/** @returns Earlier events that can be read now. */
async function decryptParts(
  parts: SyncParts,
  context: SyncContext,
  crypto: Pick<SyncCrypto, "receiveSync">,
): Promise<CryptoOutput["recovered"]> {
  const input = cryptoInput(parts, context);
  const output = await crypto.receiveSync(input);
  applyCrypto(parts, input, output);
  return output.recovered;
}

/** Replaces encrypted events by what Crypto has decrypted. */
function applyCrypto(
  parts: SyncParts,
  input: CryptoInput,
  { toDevice, decrypted, underway, encryptedRooms }: CryptoOutput,
): void {
  parts.toDevice = toDevice.map((message) => noteEncryption(message.event, message));
  const plain = new Map<MatrixEvent, MessageEvent>();
  const undecryptable = new Map<MatrixEvent, Undecryptable>();
  for (const [index, event] of input.encrypted.entries()) {
    const result = decrypted[index];
    if (result === undefined) continue;
    if ("event" in result) plain.set(event, noteEncryption(result.event, result));
    else {
      const { code, reason, withheld } = result;
      undecryptable.set(event, { code, withheld, reason: new DecryptionError(reason) });
    }
  }
  const handled = new Set<MatrixEvent | undefined>(underway.map((index) => input.encrypted[index]));
  const readable = <Event extends MatrixEvent>(events: readonly Event[]): (Event | MessageEvent)[] =>
    events.filter((event) => !handled.has(event)).map((event) => plain.get(event) ?? event);
  if (plain.size > 0) {
    for (const room of parts.rooms) {
      room.filled = readable(room.filled);
      room.timeline = readable(room.timeline);
      room.sticky = readable(room.sticky);
    }
  }
  parts.undecryptable = undecryptable;
  parts.encryptedRooms = encryptedRooms;
}

/** What Crypto gets of a response. */
function cryptoInput(parts: SyncParts, context: SyncContext): CryptoInput {
  const { initial, anew = false, isNew = false, members, handledBefore, dropTimeline: isIgnored } = context;
  const { nextBatch, toDevice, deviceLists, unusedFallbackTypes, rooms } = parts;
  const isAsItCame = context.encryptions !== undefined; // keys may have been uploaded since
  const verifying: MessageEvent[] = [];
  return {
    nextBatch,
    initial: initial || anew || isNew,
    handledBefore,
    isIgnored,
    toDevice,
    deviceLists,
    oneTimeKeyCounts: isAsItCame ? undefined : parts.oneTimeKeyCounts,
    unusedFallbackTypes,
    state: rooms.map((room) => ({
      roomId: room.roomId,
      events: changesInTurn(room, context) as StateEvent[],
      limited: room.limited,
      lossy: isLossy(room, members),
    })),
    encrypted: rooms.flatMap(({ filled, timeline, sticky, shown, asItIs }) => {
      if (asItIs === "dropped") return [];
      const isToRead = (event: MatrixEvent): event is MessageEvent => {
        if (shown.has(event) || stateKeyOf(event) !== undefined) return false;
        // Nothing is left of a redacted one.
        if (event.type === "m.room.encrypted" && !isRedacted(event)) return true;
        if (event.type.startsWith(VERIFICATION_PREFIX) || event.content.msgtype === REQUEST_TYPE) {
          verifying.push(event as MessageEvent);
        }
        return false;
      };
      return [filled, timeline, sticky].flatMap((events) => events.filter(isToRead));
    }),
    verifying,
  };
}

/** What the Store gets of a response. */
function syncChange(
  { nextBatch, rooms }: SyncParts,
  context: SyncContext,
): SyncChange {
  const { initial, members, own, repeated, again, anew, after, outlives, atOnce, dropTimeline } = context;
  return {
    nextBatch,
    after,
    repeated,
    ...(again !== undefined && again.until !== nextBatch && { again }),
    ...(anew && { anew }),
    ...(atOnce && { atOnce }),
    ...(dropTimeline && { dropTimeline }),
    rooms: rooms.map((room): RoomChange => ({
      roomId: room.roomId,
      membership: room.membership === Membership.LEAVE ? leftOrBanned(room, own) : room.membership,
      state: changesOf(room, context),
      ...(room.gone !== undefined && { gone: room.gone }),
      ...redactionsOf(room),
      complete: members === "all" && room.timeline.length + room.state.length > 0,
      lossy: isLossy(room, members),
      ...(outlives && newsOf(room, initial)),
    })),
  };
}

/**
 * The changes of state in a room's part, each with what it replaced: of state after the timeline,
 * the timeline alone says that. Of the members that this state has, what they were before comes first.
 */
function changesInTurn(room: RoomPart, context: SyncContext): ReturnType<typeof stateChanges> {
  const { state, stateAfter, timeline, shown } = room;
  if (!stateAfter || state.length === 0 || timeline.length === 0) return changesOf(room, context);
  const events = new Map(timeline.map((event) => [event.event_id, event as StateEvent]));
  const last = state.map((event) => events.get((event as StateEvent).event_id) ?? event);
  const named = new Set(last.filter(isMember).map(stateKeyOf));
  const settled = new Set<MatrixEvent>(last);
  const passed = timeline.filter((event): event is StateEvent =>
    isMember(event) && named.has(event.state_key) && !shown.has(event) && !settled.has(event)
  );
  return [...membersInGap(room, context), ...passed, ...last];
}

/** The changes of state in a room's part, and of members in the gap before it. */
function changesOf(room: RoomPart, context: SyncContext): ReturnType<typeof stateChanges> {
  if (room.filled.length === 0) return stateChanges(room); // the usual case
  return [...membersInGap(room, context), ...stateChanges(room)];
}

/**
 * The changes of members in the gap before a room's part: with lazily loaded members the state need not show
 * who has left. The very first response, when it comes again, is older than what is known.
 */
function membersInGap({ filled, shown }: RoomPart, { initial }: SyncContext): readonly StateEvent[] {
  return initial ? [] : filled.filter((event): event is StateEvent => isMember(event) && !shown.has(event));
}

/** The redactions in a room's part, and in the gap before it: servers do not send the state again. */
function redactionsOf(
  { missedRedactions = [], filled, timeline }: RoomPart,
): Pick<RoomChange, "redactions"> {
  // The usual case.
  if (missedRedactions.length === 0 && filled.length === 0 && !timeline.some(isRedaction)) return {};
  const redactions = [...missedRedactions, ...filled, ...timeline].filter(isRedaction);
  return redactions.length === 0 ? {} : { redactions };
}

function isRedaction(event: TimelineEvent): event is MessageEvent {
  return event.type === "m.room.redaction" && event.state_key === undefined;
}

/**
 * What to store of a room for after a restart. The very first response comes again as a whole,
 * unless it was handled.
 */
function newsOf(
  { news }: RoomPart,
  initial: boolean,
): Pick<RoomChange, "first" | "shown" | "added" | "entry"> {
  if (news === undefined) return {};
  const { after: { shown }, added, entry } = news;
  return {
    ...(added !== "" && (initial ? { first: shown } : { shown, added })),
    ...(entry !== undefined && { entry }),
  };
}

/** Whether members may have come and gone without being in the room's part. */
function isLossy({ limited, gone = [] }: RoomPart, members: SyncContext["members"]): boolean {
  return members === "some" || (members === "lazy" && limited) ||
    gone.some(({ type }) => type === "m.room.member");
}

/** The section `leave` has bans too; the own member event distinguishes them. */
function leftOrBanned(room: RoomPart, own: UserID): Membership {
  const last = stateChanges(room).findLast((event) => isMember(event) && event.state_key === own);
  return last?.content.membership === Membership.BAN ? Membership.BAN : Membership.LEAVE;
}
