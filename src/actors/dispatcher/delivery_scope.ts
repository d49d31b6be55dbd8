/**
 * One delivery of an event to a handler: its context, its name, and the transaction IDs of what the handler
 * sends, which are the same when a crash makes the handler run again.
 *
 * @module
 */

import type { HandlerScope, Outgoing } from "../../base/handler_call.ts";
import type { TransactionID } from "../../types/ids.ts";
import { hintAt } from "../../errors/hints.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import { platform } from "../../base/platform/mod.ts";
import { isJsonObject } from "../../types/json.ts";
import type { OpenableStore } from "../store/mod.ts";
import { currentCall } from "../../base/handler_call.ts";
import type { SessionDefinition, SessionKey } from "../../types/events/define_session.ts";
import {
  HANDLER_CONTEXT_HINTS,
  type HandlerContext,
  type HandlerContextHints,
  type SessionChange,
  type SessionCommits,
  sessionKeyOf,
  type SessionUpdate,
} from "./handler_context.ts";

/** The record of the key that IDs are made with. */
const KEY = ["send_key"];

/**
 * Makes transaction IDs. The ID of an encrypted event is a hash with a key that only the store has,
 * so that a server cannot guess the message by trying texts. The ID of an event in clear needs no
 * key: two stores of one device, deployed by mistake, make the same ID, and the event is shown
 * once.
 */
export class SendIds {
  readonly #options: OpenableStore;
  #hash: Promise<Hash> | undefined;

  /** @param options The store that has the key. */
  constructor(options: OpenableStore) {
    this.#options = options;
  }

  /**
   * The function that hashes a text. The key is read once, so that sends leave in the order in
   * which they were requested.
   */
  hash(): Promise<Hash> {
    return this.#hash ??= this.#open().catch((error) => {
      this.#hash = undefined;
      throw error;
    });
  }

  async #open(): Promise<Hash> {
    const { store, ready } = this.#options;
    await ready();
    const [kept] = await store.readRecords([KEY]);
    const key = kept instanceof Uint8Array ? kept : crypto.getRandomValues(new Uint8Array(32));
    if (key !== kept) await store.commitRecords([{ type: "set", key: KEY, value: key }]);
    const { createHmac } = await platform.crypto();
    return (text, inClear) => createHmac("sha256", inClear ? "" : key).update(text).digest("base64url");
  }
}

/** @param inClear Whether the server sees what is sent. */
type Hash = (text: string, inClear: boolean) => string;

/**
 * A replacer for `JSON.stringify()` that writes the members of objects in the order of their names.
 */
function sorted(_: string, value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).sort(([first], [second]) => first < second ? -1 : 1),
  );
}

/**
 * A delivery that may come again after a crash. Its name is made when it is needed: most handlers
 * send nothing and settle immediately.
 */
export class DeliveryScope implements HandlerScope {
  readonly #eventId: string | undefined;
  readonly #type: string;
  readonly #handlerId: string;
  readonly #sendIds: SendIds;
  /** How often the same was sent, by its hash, and what keys were used for; undefined: nothing was sent. */
  #sent: { readonly counts: Map<string, number>; readonly keys: Map<string, string> } | undefined;

  /**
   * @param event The event, which the handler may change.
   * @param handler The handler, by a name that is the same after a restart.
   * @param sendIds Makes the transaction IDs of what it sends.
   */
  constructor(
    event: { readonly event_id?: string; readonly type: string },
    handler: { readonly id: string },
    sendIds: SendIds,
  ) {
    this.#eventId = event.event_id;
    this.#type = event.type;
    this.#handlerId = handler.id;
    this.#sendIds = sendIds;
  }

  /** The name of this delivery: the same in every process, and no other delivery has it. */
  get name(): string {
    // A handler of all events gets the event encrypted, and again when its key has come.
    const form = this.#type === "m.room.encrypted" ? "-encrypted" : "";
    return `${this.#eventId}-${this.#handlerId}${form}`;
  }

  async transactionId(
    { roomId, type, asUserId, content, inClear = false }: Outgoing,
    key: string | undefined,
  ): Promise<TransactionID> {
    const { counts, keys } = this.#sent ??= { counts: new Map(), keys: new Map() };
    const place = [this.name, roomId ?? null, type, asUserId ?? null];
    if (key !== undefined) {
      useKey(keys, key, { roomId, type, place: JSON.stringify(place) });
      const hash = await this.#sendIds.hash();
      return `gr-${hash(JSON.stringify([...place, "key", key]), inClear)}`;
    }
    // Now, since the caller may change it.
    const text = JSON.stringify([...place, "content", content], sorted);
    const hash = await this.#sendIds.hash();
    const same = hash(text, inClear);
    const count = counts.get(same) ?? 0;
    counts.set(same, count + 1);
    return `gr-${count === 0 ? same : hash(`${same} ${count}`, inClear)}`;
  }
}

/** @throws {ValueError} If the key was used for something else. */
function useKey(
  keys: Map<string, string>,
  key: string,
  { roomId, type, place }: Pick<Outgoing, "roomId" | "type"> & { readonly place: string },
): void {
  if (keys.getOrInsert(key, place) === place) return;
  throw new ValueError(
    `Cannot send ${type} ${roomId === undefined ? "to devices" : `to ${roomId}`} with the key "${key}": ` +
      "this run of the handler has used it for another type or room; use another key",
  );
}

/** What is known of the running call of a handler. */
export class DescribedContext {
  /** See {@link HandlerContext.describe}. */
  describe(details: Readonly<Record<string, unknown>> = {}, unawaited?: (error: unknown) => boolean): void {
    currentCall()?.describe(details, unawaited);
  }

  /** See {@link HandlerContext.inside}. */
  inside<Value extends object>(value: Value): Value {
    return platform.inScope(value);
  }
}

hintAt(DescribedContext.prototype, "a handler's second argument", HANDLER_CONTEXT_HINTS);

/** What other libraries call it is refused with the name that it has here. */
export interface DescribedContext extends HandlerContextHints {}

/** The context of a handler that has no session. */
export class PlainContext extends DescribedContext implements HandlerContext {
  readonly #delivery: Pick<HandlerScope, "name"> | undefined;
  readonly #commits: SessionCommits;
  #updates: SessionUpdate[] | undefined;
  #isOver = false;

  /**
   * @param delivery The delivery, if it may come again.
   * @param commits Commits what the handler changes.
   */
  constructor(delivery: Pick<HandlerScope, "name"> | undefined, commits: SessionCommits) {
    super();
    this.#delivery = delivery;
    this.#commits = commits;
  }

  get deliveryId(): string | undefined {
    return this.#delivery?.name;
  }

  get session(): undefined {
    return undefined;
  }

  set session(_: undefined) {}

  endSession(): void {}

  updateSession<Other extends object>(
    definition: SessionDefinition<Other>,
    key: SessionKey,
    change: SessionChange<Other>,
  ): void {
    const update = { definition, key: sessionKeyOf(definition, key), change };
    if (this.#isOver) {
      throw new ValueError(
        `Cannot change the session "${definition.name}": the handler has settled; use client.sessions.update()`,
      );
    }
    (this.#updates ??= []).push(update);
  }

  /** Whether there is something to commit when the handler has settled. */
  get hasUpdates(): boolean {
    return this.#updates !== undefined;
  }

  /** Refuses what is changed from now on. */
  end(): void {
    this.#isOver = true;
  }

  settle(): Promise<void> {
    const updates = this.#isOver ? undefined : this.#updates;
    this.#isOver = true;
    return updates === undefined ? Promise.resolve() : this.#commits.update(updates, this.deliveryId);
  }
}
