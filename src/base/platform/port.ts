/**
 * What the platform gives: the port that each of them has an adapter for.
 *
 * @module
 */

/** A value that what is called or started inside finds. */
export interface AsyncScope<Value> {
  /** Calls a function with a value. */
  run<Given extends unknown[], Result>(
    value: Value,
    call: (...given: Given) => Result,
    ...given: Given
  ): Result;
  /** The value inside; undefined outside. */
  getStore(): Value | undefined;
}

/** A hash, or a keyed one, of bytes that come in pieces. */
export interface Digest {
  update(data: string | Uint8Array, encoding?: "utf8" | "utf16le"): this;
  digest(): Uint8Array;
  digest(encoding: "base64" | "base64url"): string;
}

/** What WebCrypto lacks: hashes of streams, and what is there at once. */
export interface PlatformCrypto {
  createHash(name: "sha256"): Digest;
  createHmac(name: "sha256", key: string | Uint8Array): Digest;
  hkdfSync(
    name: "sha256",
    key: Uint8Array,
    salt: string | Uint8Array,
    info: string,
    length: number,
  ): ArrayBuffer;
  timingSafeEqual(one: Uint8Array, other: Uint8Array): boolean;
}

/** From where {@link PlatformFile.seek} counts. */
export const SEEK = { START: 0, END: 2 } as const;

/** How a file is opened. */
export interface FileOptions {
  readonly read?: boolean;
  readonly write?: boolean;
  /** Makes it where it is not there. */
  readonly create?: boolean;
  /** Makes it, and fails where it is there. */
  readonly createNew?: boolean;
  /** Of a file that is made. */
  readonly mode?: number;
}

/** An open file. */
export interface PlatformFile extends Disposable {
  /** Resolves with how many bytes were read; null at the end. */
  read(into: Uint8Array): Promise<number | null>;
  write(bytes: Uint8Array): Promise<number>;
  writeSync(bytes: Uint8Array): number;
  seek(offset: number, from: 0 | 2): Promise<number>;
  seekSync(offset: number, from: 0 | 2): number;
  truncate(length: number): Promise<void>;
  sync(): Promise<void>;
  syncData(): Promise<void>;
  /** Locks it until it is closed, or the process ends; resolves with whether that was possible. */
  tryLock(exclusive: boolean): Promise<boolean>;
  close(): void;
}

/** The disk. */
export interface PlatformFiles {
  open(path: string, options?: FileOptions): Promise<PlatformFile>;
  openSync(path: string, options?: FileOptions): PlatformFile;
  mkdir(path: string, options: { readonly mode: number }): Promise<void>;
  makeTempFile(options: { readonly prefix: string }): Promise<string>;
  remove(path: string): Promise<void>;
  readTextFileSync(path: string): string;
  /** The bits of what users may do with it, where the system knows them. */
  modeOf(path: string): number | null;
  /** Returns whether the process may, without that anybody is asked. */
  isPermitted(name: "read" | "write", path: string): boolean;
  /** Why something failed; undefined: for another reason. */
  problemOf(error: unknown): "missing" | "there" | "forbidden" | undefined;
}

/** A server that listens. */
export interface PlatformServer {
  readonly port: number;
  /** Resolves when what was begun is answered. */
  shutdown(): Promise<void>;
}

export interface PlatformProcess {
  /** Undefined where there is none. */
  readonly pid: number | undefined;
  /** The environment; empty where it may not be read as a whole. */
  variables(): string[];
  variable(name: string): string | undefined;
  /** @throws Where there is no such signal. */
  addSignalListener(signal: "SIGINT" | "SIGTERM", listener: () => void): void;
  removeSignalListener(signal: "SIGINT" | "SIGTERM", listener: () => void): void;
  exit(status: number): void;
  /** Sets the status with which it ends by itself. */
  endWith(status: number): void;
  print(line: string): void;
}

/** What Greenroom needs of where it runs. */
export interface Platform {
  readonly AsyncLocalStorage: new <Value>() => AsyncScope<Value>;
  readonly files: PlatformFiles;
  readonly process: PlatformProcess;
  /** Loaded when it is first needed: that takes as long as a third of all of Greenroom. */
  crypto(): Promise<PlatformCrypto>;
  /** The same, for the few who can't wait: loaded with the first call. */
  cryptoNow(): PlatformCrypto;
  /**
   * An object for a function of the application's: where no scope outlives an `await`,
   * its methods bring the scope in which this was called. Elsewhere it is the object itself.
   */
  inScope<Value extends object>(value: Value): Value;
  /** Returns whether Deno KV is there. */
  hasDenoKv(): boolean;
  /** Plain data as bytes, of which the first is 0xFF. */
  serialize(value: unknown): Uint8Array;
  deserialize(bytes: Uint8Array): unknown;
  /** Where programs can't see that, also of what has one in it, or is no plain data. */
  isProxy(value: object): boolean;
  /** A value for people. */
  inspect(value: unknown, options?: { readonly breakLength: number }): string;
  /** Calls when the event loop has come round. */
  nextTask(call: () => void): void;
  /**
   * Calls after a while.
   *
   * @param call What to call.
   * @param ms How long, in milliseconds, below 2^31.
   * @param options Whether that keeps the process alive; by default it does.
   * @returns Ends the wait; without effect when it is over.
   */
  startTimer(call: () => void, ms: number, options?: { readonly keepsAlive?: boolean }): () => void;
  /** Gets what was thrown where nobody awaits it; whether it has seen to that. */
  onUnawaited(saw: (reason: unknown) => boolean): void;
  /** Listens. */
  serve(
    at: { readonly hostname: string; readonly port: number },
    handler: (request: Request) => Response | Promise<Response>,
  ): Promise<PlatformServer>;
}
