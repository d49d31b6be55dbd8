/**
 * The victim's memory apart from Greenroom's store: a file with a line for all that it did, which a kill can't take back.
 *
 * @module
 */

/** Where a message was encrypted: the Megolm session, or the chain of an Olm session, and the index in it. */
export interface RatchetUse {
  /** The session or chain. */
  readonly chain: string;
  /** The index in it. */
  readonly index: number;
  /** The ciphertext's digest. */
  readonly digest: string;
}

/** What the victim writes down. */
export type LedgerEntry =
  /** A process began. */
  | { readonly kind: "start" }
  /** Handlers have settled for a first sync, and the store knows it. */
  | { readonly kind: "settled" }
  /** It is about to send a message of its own. */
  | { readonly kind: "begin"; readonly number: number; readonly roomId: string }
  /** The message has arrived. */
  | { readonly kind: "done"; readonly number: number; readonly eventId: string }
  /** A handler was called with a message of a peer. */
  | { readonly kind: "received"; readonly eventId: string; readonly body: string }
  /** The handler has answered it. */
  | { readonly kind: "acked"; readonly eventId: string; readonly ackId: string }
  /** An event could not be decrypted, for then at least. */
  | {
    readonly kind: "undecryptable";
    readonly eventId: string;
    readonly code: string;
    readonly reason: string;
  }
  /** What is encrypted is about to be put on the wire. */
  | ({ readonly kind: "use"; readonly txnId: string } & RatchetUse)
  /** A request was refused. */
  | { readonly kind: "refused"; readonly status: number; readonly request: string; readonly answer: string }
  /** Something that was asked of Greenroom failed. */
  | { readonly kind: "failed"; readonly what: string; readonly error: string }
  /** Greenroom wrote a warning or an error into its log. */
  | { readonly kind: "log"; readonly level: string; readonly message: string; readonly data: string };

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
}

/** Reads all that was written down; nothing if there is no file yet. */
export function readLedger(path: string): LedgerEntry[] {
  let text: string;
  try {
    text = Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
  return text.split("\n").flatMap(parsed);
}

/** Nothing if a kill has torn the line. */
function parsed(line: string): LedgerEntry[] {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}

/** All entries of a kind. */
export function entriesOf<K extends LedgerEntry["kind"]>(
  entries: readonly LedgerEntry[],
  kind: K,
): Extract<LedgerEntry, { kind: K }>[] {
  return entries.filter((entry): entry is Extract<LedgerEntry, { kind: K }> => entry.kind === kind);
}
