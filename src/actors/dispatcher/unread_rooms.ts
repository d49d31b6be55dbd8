/**
 * Says in the log which rooms a client without encryption can't read, and whom one with encryption
 * can't: who writes waits for an answer, and nothing else shows that none will come.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { isRedacted } from "../../types/checks/event_check.ts";
import { type MatrixEvent, SyncStream } from "../../types/events/event.ts";
import type { EventID } from "../../types/ids.ts";
import type { InternalDelivery } from "../store/mod.ts";
import { eventClassOf, type HandlerRegistry } from "./handler_registry.ts";

/** How many rooms are named, and senders: anybody can invite into any number of them. */
const MAX_NAMED = 100;
const ENCRYPTED = "m.room.encrypted";
const WARNING =
  "Encrypted messages of a room can't be read, and reach no handler: the client has no encryption. Make it " +
  "with the options encryption and store; for Bot.fromEnv() set MATRIX_STORE, or run with --unstable-kv";
const UNDECRYPTABLE =
  "An encrypted message can't be read yet, and is delivered when it can; handlers of UNDECRYPTABLE are told of each";
/**
 * How long an encrypted message may wait to be read before it is said, in milliseconds: its key, or
 * the look-up of its sender, may be on its way.
 */
const PATIENCE = 15_000;
/** How many wait so; what comes beyond that is said immediately. */
const MAX_WAITING = 1_000;
/** What handlers of messages do not get anyway. */
const NOT_MISSED = SyncStream.HISTORY | SyncStream.OWN;

/** What it needs of a client. */
export interface UnreadRoomsOptions {
  readonly registry: Pick<HandlerRegistry, "typed" | "has">;
  /** Encryption, which reports itself what it can't read; undefined: there is none. */
  readonly crypto: { wasRecovered(event: { readonly event_id: EventID }): boolean } | undefined;
  /** Measures waits. */
  readonly clock: Clock;
  /** Gets the warnings. */
  readonly log: Logger;
}

/** What is looked at before handlers get it. */
export interface UnreadNotes {
  /** An encrypted event. */
  event(event: MatrixEvent): void;
  /** That an event can't be decrypted. */
  told(delivery: InternalDelivery): void;
  /** The client ends: what is unread by then is said. */
  end(): void;
}

/**
 * Warns once of each room in which handlers of messages miss an encrypted one; with encryption, of
 * each sender and reason, if no handler is told of them.
 */
export function unreadRooms(client: UnreadRoomsOptions): UnreadNotes {
  const { registry, clock, log } = client;
  const told = new Set<string>();
  const ending = new AbortController();
  let waiting = 0;
  const wants = (type: string) => registry.typed("message", type).length > 0;
  return {
    event(event) {
      if (event.type !== ENCRYPTED || told.size >= MAX_NAMED || client.crypto !== undefined) return;
      const { room_id: room = "", source } = event as MatrixEvent & { readonly room_id?: string };
      if (told.has(room) || isRedacted(event) || eventClassOf(event) !== "message") return;
      const isNew = (source & SyncStream.TIMELINE) !== 0 && (source & SyncStream.HISTORY) === 0;
      if (!isNew || wants(ENCRYPTED) || !wants("m.room.message")) return;
      told.add(room);
      log.warn(WARNING, { room });
    },
    told({ type, data }) {
      if (type !== "UNDECRYPTABLE" || told.size >= MAX_NAMED || registry.has(type)) return;
      const { event, code, reason, source = 0 } = data;
      const { sender, room_id: room } = event;
      const what = `${sender} ${code}`;
      if (told.has(what) || (source & NOT_MISSED) !== 0 || !wants("m.room.message")) return;
      const then = client.crypto; // another takes its place if another process has had the device
      const say = () => {
        const isRead = [then, client.crypto].some((each) => each?.wasRecovered(event) === true);
        if (told.has(what) || told.size >= MAX_NAMED || isRead) return;
        told.add(what);
        log.warn(UNDECRYPTABLE, { sender, room, error: reason });
      };
      if (waiting >= MAX_WAITING) return say();
      waiting++;
      clock.delay(PATIENCE, { signal: ending.signal }).catch(() => {}).then(() => {
        waiting--;
        say();
      });
    },
    end: () => ending.abort(),
  };
}
