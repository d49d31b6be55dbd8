/**
 * The victim's memory apart from Greenroom's store: a file with a line for all that it did, which a
 * kill can't take back.
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

/** What the victim writes down, and who kills it. */
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
  /** A handler without a session has repeated what it heard. */
  | { readonly kind: "echoed"; readonly eventId: string; readonly echoId: string }
  /** An event could not be decrypted, for then at least. */
  | {
    readonly kind: "undecryptable";
    readonly eventId: string;
    readonly code: string;
    readonly reason: string;
  }
  /** An event is left out for a time, since the processes that handled it ended. */
  | { readonly kind: "quarantined"; readonly eventId: string; readonly attempts: number }
  /** What is encrypted is about to be put on the wire. */
  | ({ readonly kind: "use"; readonly txnId: string } & RatchetUse)
  /** A request was refused. */
  | { readonly kind: "refused"; readonly status: number; readonly request: string; readonly answer: string }
  /** Something that was asked of Greenroom failed. */
  | { readonly kind: "failed"; readonly what: string; readonly error: string }
  /** Greenroom wrote a warning or an error into its log. */
  | { readonly kind: "log"; readonly level: string; readonly message: string; readonly data: string }
  /** A process has taken the device, and writes from now on. */
  | { readonly kind: "took"; readonly process: string; readonly epoch: number }
  /** A process has ended by itself. */
  | { readonly kind: "ended"; readonly process: string; readonly error: string }
  /**
   * Who kills processes is about to kill the store's server: until the next process begins, a
   * failure is none.
   */
  | { readonly kind: "outage" };

const LINE_FEED = 10;

/** Appends to the file; what has been written is there after a kill. */
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
 * Error and log entries that tell of something that should not be: not those that come of an
 * outage.
 */
export function withoutOutages(entries: readonly LedgerEntry[]): LedgerEntry[] {
  let isOutage = false;
  return entries.filter(({ kind }) => {
    if (kind === "outage") isOutage = true;
    if (kind === "start") isOutage = false;
    return !isOutage || (kind !== "failed" && kind !== "log");
  });
}
