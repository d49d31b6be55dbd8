/**
 * Deno KV over the network, `denokv` or Deno Deploy, by the HTTP requests of KV Connect.
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
 *   though it was made (`tests/e2e/store/denokv_faults_test.ts` loses answers so).
 * - It repeats requests without end while the server is away, and prints instead of rejecting: a write was
 *   pending after 45 seconds and 179 printed lines, so that `patience` can't be kept. See
 *   https://github.com/denoland/deno/issues/21211.
 * - Each request or answer of more than a kilobyte takes it 44 ms longer than `fetch()`, since it waits for
 *   the other side's acknowledgement of the first part: 44 to 55 ms instead of 1 to 9 ms in eight of the
 *   twelve rows of `bench/kv_stall.ts`.
 *
 * The turn could be kept over Deno's client too; for the other two there is no way around it.
 *
 * Over 300 lines because a request and its tries are a call of the database.
 *
 * @module
 */

import { concat } from "@std/bytes/concat";
import { equals } from "@std/bytes/equals";
import type { Clock } from "../../base/clock.ts";
import { Turns } from "../../base/runs.ts";
import { Sent } from "../../base/sent.ts";
import { StoreError, StoreReadOnlyError } from "../../errors/store_error.ts";
import { isJsonObject } from "../../types/json.ts";
import { type KvDatabase, type KvPage, type KvRecord, type KvWrite, turnKey } from "./database.ts";
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

/** Options of a connection. */
interface KvConnectOptions {
  readonly accessToken: string;
  /** How long a request is repeated that the server does not answer, in milliseconds. */
  readonly patience: number;
  readonly clock: Clock;
}

/** The database's metadata, as the server gives it. */
interface Metadata {
  readonly endpoint: string;
  readonly token: string;
  readonly headers: HeadersInit;
}

/** A failure that a repetition may not have. */
interface Failure {
  readonly failure: unknown;
}

/** The outcome of one try. */
type Answer = { readonly body: Uint8Array } | { readonly unauthorized: string } | Failure;

const VERSIONS = [2, 3];

/** How long one try may take, in milliseconds. */
const TRY_MS = 20_000;

/** The most characters of a server's text in an error. */
const MAX_TEXT = 200;

/** The shortest and the longest wait between tries, in milliseconds. */
const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 2_000;

/** The most reads under way at once: each takes a connection. */
const MAX_READERS = 6;

/** A connection to a server. */
export class KvConnection {
  readonly #url: string;
  readonly #options: KvConnectOptions;
  readonly #closing = new AbortController();
  #metadata: Metadata;
  #free = MAX_READERS;
  readonly #waiting: (() => void)[] = [];

  private constructor(url: string, options: KvConnectOptions, metadata: Metadata) {
    this.#url = url;
    this.#options = options;
    this.#metadata = metadata;
  }

  /**
   * Fetches the metadata, once.
   *
   * @throws {StoreError} If it does not answer, or refuses.
   */
  static async open(url: string, options: KvConnectOptions): Promise<KvConnection> {
    const { signal } = new AbortController();
    const metadata = await inTime(options.clock, signal, (ending) => exchange(url, options, ending));
    if ("failure" in metadata) throw silent(metadata.failure);
    return new KvConnection(url, options, metadata);
  }

  /**
   * Makes a request, and repeats it while the server does not answer, or answers with a failure of
   * its own. So it may be made more than once.
   *
   * @throws {StoreError} If the server refuses, or the patience is over.
   */
  async post(method: "snapshot_read" | "atomic_write", body: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
    // One at a time anyway, and not behind reads.
    if (method === "atomic_write") return await this.#post(method, body);
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await this.#post(method, body);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }

  /** Aborts all requests: they reject. */
  close(): void {
    this.#closing.abort();
  }

  async #post(method: string, body: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
    const { clock, patience } = this.#options;
    let begun = clock.now();
    let renewed = false;
    for (let wait = FIRST_WAIT_MS;; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
      let answer = await this.#try(method, body);
      if ("body" in answer) return answer.body;
      if ("unauthorized" in answer) {
        if (renewed) throw refused(answer.unauthorized);
        const metadata = await this.#inTime((signal) => exchange(this.#url, this.#options, signal));
        if ("endpoint" in metadata) {
          this.#metadata = metadata; // the token had expired
          renewed = true;
          continue;
        }
        answer = metadata;
      }
      const now = clock.now();
      begun = Math.min(begun, now); // the clock was set back: wait from now on
      if (this.#closing.signal.aborted || now - begun + wait > patience) throw silent(answer.failure);
      await clock.delay(wait, { signal: this.#closing.signal }).catch(() => {});
    }
  }

  async #try(method: string, body: Uint8Array<ArrayBuffer>): Promise<Answer> {
    const { endpoint, headers, token } = this.#metadata;
    const url = `${endpoint}/${method}`;
    try {
      return await this.#inTime(async (signal) => {
        const response = await fetch(url, { method: "POST", headers, body, signal });
        if (response.ok) return { body: await response.bytes() };
        const text = await textOf(response, { url, token });
        if (isPassing(response)) return { failure: new StoreError(text) };
        if (response.status === 401) return { unauthorized: text };
        throw /read.?only/i.test(text) ? readOnly(text) : refused(text);
      });
    } catch (failure) {
      if (failure instanceof StoreError || failure instanceof Deno.errors.NotCapable) throw failure;
      return { failure };
    }
  }

  #inTime<Result>(action: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    return inTime(this.#options.clock, this.#closing.signal, action);
  }
}

/** Aborts an action when a try's time is over, or the connection closes. */
async function inTime<Result>(
  clock: Clock,
  closing: AbortSignal,
  action: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const late = new AbortController();
  const done = new AbortController();
  clock.delay(TRY_MS, { signal: done.signal }).then(() => late.abort(), () => {});
  try {
    return await action(AbortSignal.any([late.signal, closing]));
  } finally {
    done.abort();
  }
}

/** Fetches the endpoint of the database, and the token for it. */
async function exchange(
  url: string,
  { accessToken }: KvConnectOptions,
  signal: AbortSignal,
): Promise<Metadata | Failure> {
  let response: Response;
  try {
    response = await fetch(url, {
      method: "POST",
      headers: { "authorization": `Bearer ${accessToken}`, "content-type": "application/json" },
      body: JSON.stringify({ supportedVersions: VERSIONS }),
      signal,
    });
  } catch (failure) {
    if (failure instanceof Deno.errors.NotCapable) throw failure;
    return { failure };
  }
  if (!response.ok) {
    const text = await textOf(response, { url, token: accessToken });
    if (isPassing(response)) return { failure: new StoreError(text) };
    throw refused(text);
  }
  return metadataOf(await response.json().catch(() => undefined), response.url);
}

function metadataOf(answer: unknown, base: string): Metadata {
  if (isJsonObject(answer) && VERSIONS.includes(Number(answer.version)) && Array.isArray(answer.endpoints)) {
    const strong = answer.endpoints.find((each) => isJsonObject(each) && each.consistency === "strong");
    if (isJsonObject(strong) && URL.canParse(String(strong.url), base)) {
      const { protocol } = new URL(String(strong.url), base);
      if (protocol !== "https:" && new URL(base).protocol === "https:") {
        throw new StoreError(
          "Cannot use the database: its server names an endpoint without https; use another server",
        );
      }
      return {
        endpoint: new URL(String(strong.url), base).href,
        token: String(answer.token),
        headers: {
          "authorization": `Bearer ${answer.token}`,
          "content-type": "application/x-protobuf",
          "x-denokv-database-id": String(answer.databaseId),
          "x-denokv-version": String(answer.version),
        },
      };
    }
  }
  throw new StoreError("Cannot use the database: what answers is not KV Connect; look at the address");
}

/** Returns whether a repetition may succeed. */
function isPassing({ status }: Response): boolean {
  return status >= 500 || status === 429;
}

/** The server's text, without the token. */
async function textOf(
  response: Response,
  { url, token }: { readonly url: string; readonly token: string },
): Promise<string> {
  const text = (await response.text()).slice(0, MAX_TEXT);
  return `${response.status} ${new Sent({ url, credentials: () => [token] }).shown(text)}`;
}

function silent(cause: unknown): StoreError {
  return new StoreError(
    "Cannot use the database: the server does not answer; look whether it runs, and at its address",
    { cause },
  );
}

function refused(text: string): StoreError {
  return new StoreError(
    `Cannot use the database: the server refuses with ${text}; look at the access token, and at the address`,
  );
}

function readOnly(text: string): StoreReadOnlyError {
  return new StoreReadOnlyError(
    `Cannot write to the database: the server refuses with ${text}; start it so that it may write`,
  );
}
