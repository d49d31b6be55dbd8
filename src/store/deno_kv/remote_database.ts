/**
 * Deno KV over the network: `denokv`, or Deno Deploy.
 *
 * A request whose answer does not come is made again: that brings a program over a restart of the server. But a write whose
 * answer was lost has been made: made again, it might undo what somebody else has written in between, or be refused because of
 * itself. So every write checks and changes a record that is this object's own, its turn, and can be made once only. If a check
 * does not hold, the turn tells whether it was this write that has changed it.
 *
 * Deno's own client is not used. It repeats writes without such a thing, and for ever, so that nothing can be closed while the
 * server is away; and each request or answer of more than a kilobyte takes it 44 ms longer than `fetch()`, because it leaves
 * to the system to keep the rest back until the other side has acknowledged what was sent before.
 *
 * @module
 */

import { concat } from "@std/bytes/concat";
import { equals } from "@std/bytes/equals";
import type { Clock } from "../../base/clock.ts";
import { StoreError } from "../../errors/store_error.ts";
import type { KvConnection } from "./connection.ts";
import type { KvDatabase, KvPage, KvRecord } from "./database.ts";
import { turnKey } from "./keys.ts";
import { encodeKey } from "./tuple.ts";
import {
  decodeRead,
  decodeWrite,
  encodeRead,
  encodeWrite,
  rangeOf,
  recordOf,
  type WireRange,
} from "./wire.ts";
import type { KvWrite } from "./writes.ts";

/** How long the turn outlives the last write, in milliseconds: two days, so that nothing is left of who has gone. */
const TURN_LIFETIME_MS = 172_800_000;

/** How many entries are read at once of what lies below a prefix: 32 MB at most. */
const PAGE = 500;

/** A database on a server. */
export class RemoteDatabase implements KvDatabase {
  /** `denokv` takes ten: two are the journal's, one is the turn. */
  readonly maxChecks = 7;
  readonly #connection: KvConnection;
  readonly #clock: Clock;
  readonly #turn = turnKey(crypto.randomUUID());
  /** The versionstamp of the turn; `null`: it is not there yet; `undefined`: look. */
  #versionstamp: string | null | undefined = null;
  #last: Promise<unknown> = Promise.resolve();

  /**
   * @param connection The server.
   * @param clock Time.
   */
  constructor(connection: KvConnection, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  async getMany(keys: readonly Deno.KvKey[]): Promise<KvRecord[]> {
    const ranges = await this.#read(keys.map(rangeOf));
    return keys.map((key, index) => recordOf(key, ranges[index]));
  }

  async page(prefix: Deno.KvKey, cursor?: string, beside?: Deno.KvKey): Promise<KvPage> {
    const below = encodeKey(prefix);
    const start = concat([cursor === undefined ? below : Uint8Array.fromHex(cursor), Uint8Array.of(0)]);
    const range = { start, end: concat([below, Uint8Array.of(255)]), limit: PAGE };
    const [entries = [], found] = await this.#read(beside === undefined ? [range] : [range, rangeOf(beside)]);
    const last = entries[PAGE - 1];
    return {
      entries,
      cursor: last && encodeKey(last.key).toHex(),
      beside: beside && recordOf(beside, found),
    };
  }

  /** One after the other: on their way, they could overtake each other. */
  commit(checks: readonly Deno.AtomicCheck[], writes: readonly KvWrite[]): Promise<string | undefined> {
    const result = this.#last.then(() => this.#commit(checks, writes));
    this.#last = result.then(() => {}, () => {});
    return result;
  }

  close(): void {
    this.#connection.close();
  }

  async #commit(
    checks: readonly Deno.AtomicCheck[],
    writes: readonly KvWrite[],
  ): Promise<string | undefined> {
    const id = new TextEncoder().encode(crypto.randomUUID());
    for (;;) {
      const before = this.#versionstamp === undefined
        ? (await this.#look()).versionstamp
        : this.#versionstamp;
      this.#versionstamp = undefined; // should the next line throw
      const written = await this.#write([{ key: this.#turn, versionstamp: before }, ...checks], writes, id);
      if (written !== undefined) return this.#versionstamp = written;
      const now = await this.#look();
      this.#versionstamp = now.versionstamp;
      if (now.versionstamp !== null && now.value instanceof Uint8Array && equals(now.value, id)) {
        return now.versionstamp;
      }
      if (now.versionstamp === before) return undefined;
    }
  }

  async #look(): Promise<KvRecord> {
    return recordOf(this.#turn, (await this.#read([rangeOf(this.#turn)]))[0]);
  }

  async #read(ranges: readonly WireRange[]): Promise<Deno.KvEntry<unknown>[][]> {
    const answer = await this.#connection.post("snapshot_read", encodeRead(ranges));
    return decodeRead(answer) ?? raise("reads");
  }

  async #write(
    checks: readonly Deno.AtomicCheck[],
    writes: readonly KvWrite[],
    id: Uint8Array,
  ): Promise<string | undefined> {
    const expireAt = this.#clock.now() + TURN_LIFETIME_MS;
    const request = encodeWrite(checks, [...writes, { key: this.#turn, record: id, expireAt }]);
    const answer = await this.#connection.post("atomic_write", request);
    return (decodeWrite(answer) ?? raise("writes")).versionstamp;
  }
}

function raise(what: string): never {
  throw new StoreError(`Cannot use the database: the server ${what} nothing now; try again later`);
}
