/**
 * Key files: the keys of sessions, on their way out of the engine and into it.
 *
 * @module
 */

import { checkOptions, type OptionNames } from "../errors/known_names.ts";
import { assertPassphrase, MAX_ITERATIONS } from "../crypto/ciphers/ciphers.ts";
import type { KeyFileData } from "../crypto/key_files/key_files.ts";
import type { ImportedRoomKey } from "../crypto/megolm/mod.ts";
import type { MegolmSessionRef } from "../types/identifiers.ts";
import { ValueError } from "../errors/matrix_error.ts";
import type { RoomID } from "../types/ids.ts";
import type { EngineRunner } from "../actors/crypto/crypto.ts";

/** How much of an export is done. */
export interface KeyExportProgress {
  /** How many sessions are in the file so far. */
  readonly sessions: number;
}

/** Options of {@link Crypto.exportKeys}. */
export interface ExportKeysOptions {
  /** The passphrase that the file is encrypted with: who has both reads all the messages. */
  passphrase: string;
  /**
   * How often the passphrase is hashed, so that guessing it takes time: 100,000 to 10,000,000.
   * Default: 500,000, half a second.
   */
  rounds?: number;
  /** The rooms whose keys are exported. Default: all. */
  rooms?: readonly RoomID[];
  /** Aborts it: the stream fails with the signal's reason. */
  signal?: AbortSignal;
  /** Called after some hundred sessions each. */
  onProgress?: (progress: KeyExportProgress) => void;
}

/** What has become of sessions that were imported or restored. */
export interface KeyImportCounts {
  /** Sessions that are new. */
  readonly added: number;
  /** Sessions that read more now, or about whose owner more is known. */
  readonly improved: number;
  /** Sessions of which the file says nothing new. */
  readonly known: number;
  /**
   * Entries that were left out: malformed, of another algorithm, or with a key that is not the
   * session's.
   */
  readonly refused: number;
}

/** What has become of the sessions of a key file, or of a backup. */
export interface KeyImportReport extends KeyImportCounts {
  /** How many entries the file has, or how many keys of the backup were read. */
  readonly total: number;
}

/** How much of an import is done. */
export interface KeyImportProgress extends KeyImportCounts {
  /** How many entries have been read so far: how many there are, only the end shows. */
  readonly done: number;
  /** How much of the file has been read, from 0 to 1. */
  readonly part: number;
}

/** Options of {@link Crypto.importKeys}. */
export interface ImportKeysOptions {
  /** The passphrase that the file was encrypted with. */
  passphrase: string;
  /** Aborts it: what has been imported by then stays. */
  signal?: AbortSignal;
  /** Called after some hundred sessions each. */
  onProgress?: (progress: KeyImportProgress) => void;
}

/** How many sessions a step takes: some milliseconds of work. */
const SESSIONS_A_STEP = 200;
const MIN_ROUNDS = 100_000;

const EXPORT: OptionNames<ExportKeysOptions> = {
  ...{ passphrase: true, rounds: true, rooms: true, signal: true, onProgress: true },
};
const IMPORT: OptionNames<ImportKeysOptions> = { passphrase: true, signal: true, onProgress: true };

/** The format of key files: few programs use it. */
const loaded = () => import("../crypto/key_files/key_files.ts");

/** Writes and reads key files. */
export class KeyFiles {
  readonly #engine: Pick<EngineRunner, "actor" | "open" | "deliver" | "requests">;

  /** @param engine The engine. */
  constructor(engine: Pick<EngineRunner, "actor" | "open" | "deliver" | "requests">) {
    this.#engine = engine;
  }

  export(options: ExportKeysOptions): ReadableStream<Uint8Array<ArrayBuffer>> {
    checkOptions(options, EXPORT, "export keys");
    const { passphrase, rounds = 500_000, rooms, signal, onProgress } = options;
    assertPassphrase(passphrase);
    if (!Number.isInteger(rounds) || rounds < MIN_ROUNDS || rounds > MAX_ITERATIONS) {
      throw new ValueError(
        `Cannot export keys: rounds is ${rounds}; use ${MIN_ROUNDS} to ${MAX_ITERATIONS}, more for a weaker passphrase`,
      );
    }
    const content = this.#content(rooms, onProgress);
    const file = async function* () {
      const { writeKeyFile } = await loaded();
      yield* writeKeyFile(content, { passphrase, rounds, signal });
    };
    return ReadableStream.from(file());
  }

  async import(data: KeyFileData, options: ImportKeysOptions): Promise<KeyImportReport> {
    const engine = this.#engine;
    checkOptions(options, IMPORT, "import keys");
    const { passphrase, signal, onProgress } = options;
    assertPassphrase(passphrase);
    const { JsonElements, openKeyFile, readEntry } = await loaded();
    const file = await openKeyFile(data, { passphrase, signal });
    await engine.open();
    const report = { total: 0, added: 0, improved: 0, known: 0, refused: 0 };
    let read = 0;
    let batch: ImportedRoomKey[] = [];
    const flush = async (): Promise<void> => {
      signal?.throwIfAborted();
      const { recovered, ...counts } = await engine.actor.importKeys(batch);
      batch = [];
      for (const kind of ["added", "improved", "known", "refused"] as const) report[kind] += counts[kind];
      engine.deliver(recovered);
      const { total: done, ...counted } = report;
      onProgress?.({ ...counted, done, part: read / file.size });
    };
    const elements = new JsonElements();
    for await (const block of file.content()) {
      for (const element of elements.add(block)) {
        const key = element && readEntry(element);
        report.total++;
        if (key === undefined) report.refused++;
        else if (batch.push(key) === SESSIONS_A_STEP) await flush();
      }
      read += block.length;
      block.fill(0);
    }
    await flush();
    engine.requests.wake(); // what came need not be asked for any more, but backed up
    elements.end();
    return report;
  }

  /** The JSON of the sessions, page by page. */
  async *#content(
    rooms: readonly RoomID[] | undefined,
    onProgress: ExportKeysOptions["onProgress"],
  ): AsyncGenerator<string> {
    const { actor } = this.#engine;
    await this.#engine.open();
    const { writeEntry } = await loaded();
    let sessions = 0;
    for (const roomId of rooms === undefined ? [undefined] : new Set(rooms)) {
      let after: MegolmSessionRef | undefined;
      do {
        const page = await actor.exportSessions({ roomId, after, limit: SESSIONS_A_STEP });
        const entries = page.sessions.map(writeEntry).join(",\n");
        if (entries !== "") yield (sessions === 0 ? "[" : ",\n") + entries;
        sessions += page.sessions.length;
        onProgress?.({ sessions });
        after = page.last;
      } while (after !== undefined);
    }
    yield sessions === 0 ? "[]" : "]";
  }
}
