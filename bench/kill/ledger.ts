/**
 * The bot's ledger: a file beside Greenroom's store with a line for everything that it did, which
 * survives a kill.
 *
 * @module
 */

/**
 * Where a message was encrypted: the Megolm session, or the chain of an Olm session, and the index
 * in it.
 */
export interface RatchetUse {
  /** The session or chain. */
  readonly chain: string;
  /** The index in it. */
  readonly index: number;
  /** The ciphertext's digest. */
  readonly digest: string;
}

/** An entry of the bot, or of the program that kills it. */
export type LedgerEntry =
  /** A process began. */
  | { readonly kind: "start" }
  /** A sync has been committed. */
  | { readonly kind: "synced" }
  /** It is about to send a message of its own. */
  | { readonly kind: "begin"; readonly number: number; readonly roomId: string }
  /** The message has arrived. */
  | { readonly kind: "done"; readonly number: number; readonly eventId: string }
  /** A handler was called with a message of a peer. */
  | { readonly kind: "received"; readonly eventId: string; readonly body: string }
  /** The handler has answered it. */
  | { readonly kind: "answered"; readonly eventId: string; readonly text: string; readonly replyId: string }
  /** A handler without a session has repeated a message. */
  | { readonly kind: "echoed"; readonly eventId: string; readonly echoId: string }
  /** A bot of the kit has drawn a value in `c.step()`. */
  | { readonly kind: "once"; readonly number: number; readonly value: string }
  /** It is about to ask to be reminded. */
  | { readonly kind: "reminds"; readonly number: number; readonly due: number }
  /** An event could not be decrypted, for then at least. */
  | {
    readonly kind: "undecryptable";
    readonly eventId: string;
    readonly code: string;
    readonly reason: string;
  }
  /** An event was quarantined, since the processes that handled it ended. */
  | { readonly kind: "quarantined"; readonly eventId: string; readonly attempts: number }
  /** An encrypted message is about to be sent. */
  | ({ readonly kind: "use"; readonly txnId: string } & RatchetUse)
  /** A request was refused. */
  | { readonly kind: "refused"; readonly status: number; readonly request: string; readonly answer: string }
  /** A call of Greenroom failed. */
  | { readonly kind: "failed"; readonly what: string; readonly error: string }
  /** Greenroom wrote a warning or an error into its log. */
  | { readonly kind: "log"; readonly level: string; readonly message: string; readonly data: string }
  /** A process has taken the device, and writes from now on. */
  | { readonly kind: "took"; readonly process: string; readonly epoch: number }
  /** A process has ended by itself. */
  | { readonly kind: "ended"; readonly process: string; readonly error: string }
  /**
   * The store's server is about to be killed: until the next process begins, failures do not
   * count.
   */
  | { readonly kind: "outage" };

const LINE_FEED = 10;

/** Appends to the file; lines that were written survive a kill. */
export class Ledger {
  readonly #file: Deno.FsFile;

  /** @param path The file, which is made if there is none. */
  constructor(path: string) {
    this.#file = Deno.openSync(path, { append: true, create: true });
    this.#file.writeSync(new Uint8Array([LINE_FEED])); // ends a line that a kill has torn
  }

  /** Writes a line, in one piece. */
  write(entry: LedgerEntry): void {
    this.#file.writeSync(new TextEncoder().encode(`${JSON.stringify(entry)}\n`));
  }

  /** Closes the file. */
  [Symbol.dispose](): void {
    this.#file.close();
  }
}

/** All entries of a kind. */
export function entriesOf<K extends LedgerEntry["kind"]>(
  entries: readonly LedgerEntry[],
  kind: K,
): Extract<LedgerEntry, { kind: K }>[] {
  return entries.filter((entry): entry is Extract<LedgerEntry, { kind: K }> => entry.kind === kind);
}

/**
 * The entries without the errors and log lines that an outage causes.
 */
export function withoutOutages(entries: readonly LedgerEntry[]): LedgerEntry[] {
  let isOutage = false;
  return entries.filter(({ kind }) => {
    if (kind === "outage") isOutage = true;
    if (kind === "start") isOutage = false;
    return !isOutage || (kind !== "failed" && kind !== "log");
  });
}

/**
 * The messages that both of the last two processes received, by event ID. What a process that was
 * killed had received may come again; what one had received that stopped cleanly may not.
 */
export function receivedByLastTwo(entries: readonly LedgerEntry[]): string[] {
  const last = entries.findLastIndex(({ kind }) => kind === "start");
  const previous = entries.slice(0, Math.max(last, 0)).findLastIndex(({ kind }) => kind === "start");
  if (previous < 0) return [];
  const before = new Set(entriesOf(entries.slice(previous, last), "received").map(({ eventId }) => eventId));
  const after = entriesOf(entries.slice(last), "received").map(({ eventId }) => eventId);
  return after.filter((eventId) => before.has(eventId));
}
