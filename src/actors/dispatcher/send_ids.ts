/**
 * The transaction IDs of what handlers send: the same when a crash has a handler run again.
 *
 * @module
 */

import { ValueError } from "../../errors/value_error.ts";
import type { Outgoing } from "../../base/handler_scope.ts";
import { nodeCrypto } from "../../base/node_crypto.ts";
import type { KvKey } from "../../store/kv_store.ts";
import type { TransactionID } from "../../types/ids.ts";
import { isJsonObject } from "../../types/json.ts";
import type { HandlerSessionsOptions } from "./handler_sessions.ts";

/** Where the key is kept that they are made with. */
const KEY: KvKey = ["send_key"];

/**
 * Makes them, of what is encrypted with a key that only the store knows: nobody can try what a message may have said until the ID
 * comes out. What is sent in clear needs none, so that two stores of one device, deployed by mistake, make the same ID, and it is
 * shown once.
 */
export class SendIds {
  readonly #options: HandlerSessionsOptions;
  #hash: Promise<Hash> | undefined;

  /** @param options Keeps the key. */
  constructor(options: HandlerSessionsOptions) {
    this.#options = options;
  }

  /**
   * What hashes a text. The key is asked for once and then at hand, so that sends leave in the order in which they were asked for.
   *
   * @param inClear Whether the server sees what is sent.
   */
  async hash(inClear: boolean): Promise<(text: string) => string> {
    const hash = await (this.#hash ??= this.#open().catch((error) => {
      this.#hash = undefined;
      throw error;
    }));
    return (text) => hash(text, inClear);
  }

  async #open(): Promise<Hash> {
    const { store, ready } = this.#options;
    await ready();
    const [kept] = await store.ask("readRecords", [KEY]);
    const key = kept instanceof Uint8Array ? kept : crypto.getRandomValues(new Uint8Array(32));
    if (key !== kept) await store.ask("commitRecords", [{ type: "set", key: KEY, value: key }]);
    const { createHmac } = await nodeCrypto();
    return (text, inClear) => createHmac("sha256", inClear ? "" : key).update(text).digest("base64url");
  }
}

type Hash = (text: string, inClear: boolean) => string;

/** The sends of one run of a handler. */
export class DeliverySends {
  readonly #ids: SendIds;
  readonly #delivery: string;
  /** By the hash of what was sent, how often it was. */
  readonly #counts = new Map<string, number>();
  /** By key, what it was used for. */
  readonly #keys = new Map<string, string>();

  /**
   * @param ids Makes the IDs.
   * @param delivery The name of the delivery.
   */
  constructor(ids: SendIds, delivery: string) {
    this.#ids = ids;
    this.#delivery = delivery;
  }

  /**
   * Makes the ID of the next send.
   *
   * @throws {ValueError} If the key was used for something else.
   */
  async next(
    { roomId, type, asUserId, content, inClear = false }: Outgoing,
    key: string | undefined,
  ): Promise<TransactionID> {
    const place = [this.#delivery, roomId ?? null, type, asUserId ?? null];
    if (key !== undefined) {
      this.#take(key, { roomId, type, place: JSON.stringify(place) });
      return `gr-${(await this.#ids.hash(inClear))(JSON.stringify([...place, "key", key]))}`;
    }
    const text = JSON.stringify([...place, "content", content], sorted); // as it is now, whoever changes it
    const hash = await this.#ids.hash(inClear);
    const same = hash(text);
    const count = this.#counts.get(same) ?? 0;
    this.#counts.set(same, count + 1);
    return `gr-${count === 0 ? same : hash(`${same} ${count}`)}`;
  }

  #take(key: string, { roomId, type, place }: Pick<Outgoing, "roomId" | "type"> & { place: string }): void {
    const before = this.#keys.get(key);
    this.#keys.set(key, before ?? place);
    if (before === undefined || before === place) return;
    throw new ValueError(
      `Cannot send ${type} ${roomId === undefined ? "to devices" : `to ${roomId}`} with the key "${key}": ` +
        "this run of the handler has used it for another type or room; use another key",
    );
  }
}

/** Has the members of objects written in the order of their names. */
function sorted(_: string, value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).sort(([first], [second]) => first < second ? -1 : 1),
  );
}
