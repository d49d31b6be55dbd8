/**
 * A session in the store: its tokens, and whose turn it is to refresh them.
 *
 * A refresh token is for one use. Before a process uses it, it takes a turn, which it notes in the record:
 * the others wait for what comes of that. A turn that has ended without a word (the process was killed) is
 * taken over after a while, which each process measures by itself, so that clocks need not agree.
 *
 * @module
 */

import type { Tokens } from "../api/http/mod.ts";
import { type Clock, elapsed } from "../base/clock.ts";
import type { Store, StoreEntry, StoreKey } from "../store/base/mod.ts";
import type { DeviceID, UserID } from "../types/ids.ts";
import { ASK_LIMIT } from "./authorization_server.ts";

/** What is kept of a session. */
export interface SessionRecord {
  /** The homeserver's address. */
  readonly baseUrl: string;
  /** Whose it is. */
  readonly mxid: UserID;
  /** The device that the tokens are for. */
  readonly deviceId: DeviceID;
  /** Who has given the tokens: the refresh token goes to no other. */
  readonly issuer: string;
  /** The ID of the client there. */
  readonly clientId: string;
  /** The newest tokens. */
  readonly tokens: Tokens;
  /** When they came, in milliseconds since the epoch. */
  readonly takenAt: number;
  /** Counts the turns. */
  readonly turn: number;
  /** The process that has the turn; undefined: none has. */
  readonly refreshing?: string;
}

/** What a login makes of a session. */
export type NewSession = Omit<SessionRecord, "takenAt" | "turn">;

/** A record, and which version of it. */
export type KeptRecord = StoreEntry & { readonly value: SessionRecord };

/** A turn to refresh. */
export interface Turn {
  readonly record: SessionRecord;
  readonly refreshToken: string;
}

const SESSIONS: StoreKey = ["greenroom.oauth", "session"];
/** How long a turn may show no outcome before another process takes it, in milliseconds. */
const PATIENCE = ASK_LIMIT + 10_000;
/** The part of a token's life after which it is refreshed: what needs it next should not meet its end. */
const LIFE = 0.9;
/** How often is looked whether there is one, in milliseconds. */
const LOOK = 250;

/** The session of one user in a store. */
export class KeptSession {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #key: StoreKey;
  readonly #deviceId: DeviceID;
  readonly #process = crypto.randomUUID();

  /**
   * @param store Where it is.
   * @param clock Measures the patience.
   * @param whose The user and the device.
   */
  constructor(store: Store, clock: Clock, { mxid, deviceId }: Pick<SessionRecord, "mxid" | "deviceId">) {
    [this.#store, this.#clock, this.#key, this.#deviceId] = [store, clock, [...SESSIONS, mxid], deviceId];
  }

  /** All sessions in a store. */
  static async list(store: Store): Promise<SessionRecord[]> {
    const entries = await Array.fromAsync(store.list(SESSIONS));
    return entries.map(({ value }) => value as SessionRecord);
  }

  /** Keeps the session of a new login, in place of any other of the user, which is returned too. */
  async begin(session: NewSession): Promise<{ record: SessionRecord; replaced: SessionRecord | undefined }> {
    for (;;) {
      const kept = await this.#entry();
      const turn = (kept?.value.turn ?? 0) + 1; // a turn under way is of the old session
      const record = { ...session, takenAt: this.#clock.now(), turn };
      if (await this.#write(record, kept)) return { record, replaced: kept?.value };
    }
  }

  /** Reads what is kept; undefined: there is no such session any more. */
  async read(): Promise<KeptRecord | undefined> {
    const kept = await this.#entry();
    return kept?.value.deviceId === this.#deviceId ? kept : undefined; // else it is that of a new login
  }

  /**
   * Takes the turn to refresh.
   *
   * @param used The access token that has come to its end.
   * @returns The turn; others' tokens, if there are any by now; undefined if there is no way to new ones.
   */
  async take(used: string): Promise<Turn | SessionRecord | undefined> {
    const waits = this.#waiter();
    for (;;) {
      const kept = await this.read();
      if (kept === undefined) return undefined;
      const { value: record } = kept;
      if (record.tokens.accessToken !== used) return record;
      const { refreshToken } = record.tokens;
      if (refreshToken === undefined) return undefined;
      if (await waits(kept)) continue;
      const mine = { ...record, turn: record.turn + 1, refreshing: this.#process };
      if (await this.#write(mine, kept)) return { record: mine, refreshToken };
    }
  }

  /** Reads what is kept, once no other process refreshes it. */
  async settled(): Promise<KeptRecord | undefined> {
    const waits = this.#waiter();
    for (;;) {
      const kept = await this.read();
      if (kept === undefined || !await waits(kept)) return kept;
    }
  }

  /** Waits a little while another process has the turn; false: none has, or its turn shows no outcome. */
  #waiter(): (kept: KeptRecord) => Promise<boolean> {
    let [seen, since]: [string | undefined, number] = [undefined, 0];
    return async ({ value: { refreshing }, versionstamp }) => {
      if (seen !== versionstamp) [seen, since] = [versionstamp, this.#clock.now()];
      const isOthers = refreshing !== undefined && refreshing !== this.#process;
      if (!isOthers || this.#clock.now() - since >= PATIENCE) return false;
      await this.#clock.delay(LOOK);
      return true;
    };
  }

  /**
   * Ends a turn with new tokens, which are on the disk when that resolves.
   *
   * @returns The tokens to go on with: those of a later turn, if that has some; undefined if there is no such
   *   session any more.
   */
  async keep(turn: Turn, tokens: Tokens): Promise<SessionRecord | undefined> {
    for (;;) {
      const kept = await this.read();
      if (kept === undefined) return undefined;
      const { value: record } = kept;
      const isLater = record.turn > turn.record.turn;
      const hasOthers = record.tokens.accessToken !== turn.record.tokens.accessToken;
      if (isLater && hasOthers) return record; // the server has given those after ours
      const { refreshing, ...rest } = record;
      const next = { ...rest, tokens, takenAt: this.#clock.now(), ...(isLater && { refreshing }) };
      if (await this.#write(next, kept)) return next;
    }
  }

  /** Ends a turn without any. */
  async leave(turn: Turn): Promise<SessionRecord | undefined> {
    for (;;) {
      const kept = await this.read();
      if (kept === undefined || kept.value.turn !== turn.record.turn) return kept?.value;
      const { refreshing: _refreshing, ...rest } = kept.value;
      if (await this.#write(rest, kept)) return rest;
    }
  }

  /** Forgets the session, unless it has changed. */
  async forget({ versionstamp }: KeptRecord): Promise<boolean> {
    const key = this.#key;
    return await this.#store.commit([{ type: "delete", key }], [{ key, versionstamp }]);
  }

  async #entry(): Promise<KeptRecord | undefined> {
    const [entry] = await this.#store.getMany([this.#key]);
    return entry as KeptRecord | undefined;
  }

  async #write(value: SessionRecord, kept: KeptRecord | undefined): Promise<boolean> {
    const [key, versionstamp] = [this.#key, kept?.versionstamp ?? null];
    return await this.#store.commit([{ type: "set", key, value }], [{ key, versionstamp }]);
  }
}

/** The tokens that a client gets, without the refresh token; it is to have others before they expire. */
export function givenTokens(
  { tokens: { accessToken, expiresIn }, takenAt }: SessionRecord,
  now: number,
): Tokens {
  const age = elapsed(now, takenAt);
  // A clock was set back.
  if (expiresIn === undefined || age === Infinity) return { accessToken, expiresIn: undefined };
  return { accessToken, expiresIn: Math.max(0, expiresIn * LIFE - age) };
}

/** Returns whether the access token has not expired, as far as is known. */
export function lives({ tokens: { expiresIn = 0 }, takenAt }: SessionRecord, now: number): boolean {
  return elapsed(now, takenAt) < expiresIn;
}
