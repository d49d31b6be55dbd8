/**
 * Says in the log which rooms a client without encryption can't read: who writes there waits for an
 * answer, and nothing else shows that none will come.
 *
 * @module
 */

import type { Logger } from "../../base/log.ts";
import { isRedacted } from "../../types/checks/event_check.ts";
import type { MatrixEvent } from "../../types/events/event.ts";
import { SyncStream } from "../../types/events/sync_stream.ts";
import { eventClassOf, type HandlerRegistry } from "./handler_registry.ts";

/** How many rooms are named: anybody can invite into any number of them. */
const MAX_ROOMS = 100;
const ENCRYPTED = "m.room.encrypted";
const WARNING =
  "Encrypted messages of a room can't be read, and reach no handler: the client has no encryption. Make it " +
  "with the options encryption and store; for Bot.fromEnv() set MATRIX_STORE, or run with --unstable-kv";

/** What it needs of a client. */
export interface UnreadRoomsOptions {
  /** The handlers. */
  readonly registry: Pick<HandlerRegistry, "typed">;
  /** Whether there is encryption, which reports itself what it can't read. */
  readonly encrypts: () => boolean;
  /** Gets the warnings. */
  readonly log: Logger;
}

/**
 * Warns once of each room in which handlers of messages miss an encrypted one.
 *
 * @returns Called with what is about to be delivered.
 */
export function unreadRooms({ registry, encrypts, log }: UnreadRoomsOptions): (event: MatrixEvent) => void {
  const told = new Set<string>();
  const wants = (type: string) => registry.typed("message", type).length > 0;
  return (event) => {
    if (event.type !== ENCRYPTED || told.size >= MAX_ROOMS || encrypts()) return;
    const { room_id: room = "", source } = event as MatrixEvent & { readonly room_id?: string };
    if (told.has(room) || isRedacted(event) || eventClassOf(event) !== "message") return;
    const isNew = (source & SyncStream.TIMELINE) !== 0 && (source & SyncStream.HISTORY) === 0;
    if (!isNew || wants(ENCRYPTED) || !wants("m.room.message")) return;
    told.add(room);
    log.warn(WARNING, { room });
  };
}
