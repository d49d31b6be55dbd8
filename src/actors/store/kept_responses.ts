/**
 * Responses that the server does not give again, from when they have come until they have been handled.
 *
 * Sliding sync forgets a position once the next one is used. What a process that was killed had received is
 * here, and comes again as it came: each response says which token it answers.
 *
 * @module
 */

import type { StoreMutation } from "../../store/base/mod.ts";
import type { SyncToken } from "../../types/ids.ts";
import { set, type StoreWriter } from "./writer.ts";

/** A response to keep. */
export interface KeptResponse {
  /** The token that it answers; absent: the start. */
  readonly since?: SyncToken;
  /** The token that it ends with. */
  readonly nextBatch: SyncToken;
  /** The response, as text. */
  readonly text: string;
}

/** What is remembered of one. */
interface Entry extends Pick<KeptResponse, "since" | "nextBatch"> {
  readonly number: number;
}

/** Keeps responses, in the order in which they came. */
export class KeptResponses {
  /** The number of the oldest; without any, Infinity. */
  oldest = Infinity;
  /** The number of the latest: none is given again, since its record may be about to be removed. */
  last = 0;
  readonly #writer: StoreWriter;
  /** From old to new; undefined: they have not been read, since nothing has asked for any. */
  #entries: Entry[] | undefined;

  /** @param writer Reads and writes. */
  constructor(writer: StoreWriter) {
    this.#writer = writer;
  }

  /** Keeps a response, durably; in its place, if it was kept before. */
  async keep(response: KeptResponse): Promise<void> {
    const entries = await this.#load();
    const { since, nextBatch } = response;
    const before = entries.findLast((entry) => entry.since === since);
    const isSame = before?.nextBatch === nextBatch;
    const number = isSame ? before.number : ++this.last;
    if (!isSame) entries.push({ since, nextBatch, number });
    this.#look();
    await this.#writer.commit([set(this.#writer.keys.keptResponse(number), response)]);
  }

  /** The text of the latest response that answers a token. */
  async get(since: SyncToken | undefined): Promise<string | undefined> {
    const entry = (await this.#load()).findLast((entry) => entry.since === since);
    if (entry === undefined) return undefined;
    return (await this.#writer.get<KeptResponse>(this.#writer.keys.keptResponse(entry.number)))?.text;
  }

  /** The token that the latest one ends with, if there is any. */
  async end(): Promise<SyncToken | undefined> {
    return (await this.#load()).at(-1)?.nextBatch;
  }

  /** Removes, with the next commit, what has been handled: up to the response that ends with a token. */
  handled(token: SyncToken): void {
    const last = this.#entries?.findLastIndex(({ nextBatch }) => nextBatch === token) ?? -1;
    for (const { number } of this.#entries?.splice(0, last + 1) ?? []) {
      this.#writer.defer({ type: "delete", key: this.#writer.keys.keptResponse(number) });
    }
    this.#look();
  }

  /** Removes all. */
  async clear(mutations: StoreMutation[]): Promise<void> {
    for (const { number } of (await this.#load()).splice(0)) {
      mutations.push({ type: "delete", key: this.#writer.keys.keptResponse(number) });
    }
    this.#look();
  }

  #look(): void {
    this.oldest = this.#entries?.[0]?.number ?? Infinity;
  }

  async #load(): Promise<Entry[]> {
    if (this.#entries !== undefined) return this.#entries;
    const entries: Entry[] = [];
    for (const { key, value } of await this.#writer.entries(this.#writer.keys.keptResponse())) {
      const { since, nextBatch } = value as KeptResponse;
      entries.push({ since, nextBatch, number: Number(key.at(-1)) });
    }
    if (this.#entries !== undefined) return this.#entries;
    this.last = entries.at(-1)?.number ?? 0;
    this.#entries = entries;
    this.#look();
    return entries;
  }
}
