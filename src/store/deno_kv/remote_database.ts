/**
 * Deno KV over the network: `denokv`, or Deno Deploy.
 *
 * A request without an answer is repeated, so that a program survives a restart of the server. But
 * a write whose answer was lost may have been made: repeated, it would undo what others have
 * written since, or be refused because of itself. So each write checks and changes a record of this
 * object's own, its turn, and can be made only once. If a check fails, the turn shows whether this
 * very write has changed it.
 *
 * Deno's own client is not used, for three reasons, all seen again on Deno 2.9.6 with denokv
 * 0.14.0:
 *
 * - It repeats a write that a proxy answers with 502, though the server has made it: what another
 *   client wrote in between was overwritten, and a commit with a check was reported as refused
 *   though it was made (`tests/e2e/store/denokv_faults_test.ts` loses answers so). - It repeats
 *   requests without end while the server is away, and prints instead of rejecting: a write was
 *   pending after 45 seconds and 179 printed lines, so that `patience` can't be kept. See
 *   https://github.com/denoland/deno/issues/21211. - Each request or answer of more than a kilobyte
 *   takes it 44 ms longer than `fetch()`, since it waits for the other side's acknowledgement of
 *   the first part: 44 to 55 ms instead of 1 to 9 ms in eight of the twelve rows of
 *   `bench/kv_stall.ts`.
 *
 * The turn could be kept over Deno's client too; for the other two there is no way around it.
 *
 * @module
 */

import { concat } from "@std/bytes/concat";
import { equals } from "@std/bytes/equals";
import type { Clock } from "../../base/clock.ts";
import { Turns } from "../../base/runs.ts";
import { StoreError } from "../../errors/store_error.ts";
import type { KvConnection } from "./connection.ts";
import type { KvDatabase, KvPage, KvRecord, KvWrite } from "./database.ts";
import { turnKey } from "./keys.ts";
import {
  decodeRead,
  decodeWrite,
  encodeKey,
  encodeRead,
  encodeWrite,
  rangeOf,
  recordOf,
  type WireRange,
} from "./wire.ts";

/**
 * How long the turn outlives the last write, in milliseconds: two days, so that nothing stays of
 * processes that have ended.
 */
const TURN_LIFETIME_MS = 172_800_000;

/** How many entries a page has: 32 MB at most. */
const PAGE = 500;

/** A database on a server. */
export class RemoteDatabase implements KvDatabase {
  /** `denokv` takes ten: two are the journal's, one is the turn. */
  readonly maxChecks = 7;
  readonly #connection: KvConnection;
  readonly #clock: Clock;
  readonly #turn = turnKey(crypto.randomUUID());
  /** The versionstamp of the turn; `null`: there is none yet; `undefined`: it must be read. */
  #versionstamp: string | null | undefined = null;
  /** On the network, commits could overtake each other. */
  readonly #turns = new Turns();

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

  async page(prefix: Deno.KvKey, after: Deno.KvKey = prefix, beside?: Deno.KvKey): Promise<KvPage> {
    const below = encodeKey(prefix);
    const start = concat([encodeKey(after), Uint8Array.of(0)]);
    const range = { start, end: concat([below, Uint8Array.of(255)]), limit: PAGE };
    const [entries = [], found] = await this.#read(beside === undefined ? [range] : [range, rangeOf(beside)]);
    return { entries, last: entries[PAGE - 1]?.key, beside: beside && recordOf(beside, found) };
  }

  commit(checks: readonly Deno.AtomicCheck[], writes: readonly KvWrite[]): Promise<string | undefined> {
    return this.#turns.take(() => this.#commit(checks, writes));
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
