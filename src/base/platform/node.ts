/**
 * What Node and Bun give. The npm package has this in place of `deno.ts`.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";
import * as crypto from "node:crypto";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import process from "node:process";
import { inspect, promisify, types } from "node:util";
import * as v8 from "node:v8";
import * as tagged from "./tagged_codec.ts";
import { type FileOptions, type Platform, type PlatformFile, type PlatformServer, SEEK } from "./port.ts";
import { addNewerLanguage } from "./tagged_codec.ts";
import { DatabaseSync } from "node:sqlite";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

addNewerLanguage();

const CODES: Readonly<Record<string, "missing" | "there" | "forbidden">> = {
  ENOENT: "missing",
  EEXIST: "there",
  ERR_ACCESS_DENIED: "forbidden",
};

/** What `node:v8` of Bun makes is of another engine, and no other runtime reads it. */
const { serialize, deserialize } = "bun" in process.versions ? tagged : v8;

const signals = { SIGINT: "SIGINT", SIGTERM: "SIGTERM" } as const;

export const platform: Platform = {
  AsyncLocalStorage,
  files: {
    // deno-lint-ignore require-await -- what fails is to reject
    open: async (path, options) => openNodeFile(path, options),
    openSync: openNodeFile,
    mkdir: (path, options) => fs.promises.mkdir(path, options),
    makeTempFile: async ({ prefix }) => {
      const path = `${tmpdir()}/${prefix}${crypto.randomUUID()}`;
      await fs.promises.writeFile(path, "", { flag: "wx", mode: 0o600 });
      return path;
    },
    remove: (path) => fs.promises.unlink(path),
    readTextFileSync: (path) => fs.readFileSync(path, "utf8"),
    modeOf: (path) => process.platform === "win32" ? null : fs.statSync(path).mode,
    isPermitted: () => true, // nobody would be asked
    problemOf: (error) => CODES[String((error as { code?: unknown } | undefined)?.code)],
  },
  process: {
    pid: process.pid,
    variables: () => Object.keys(process.env),
    variable: (name) => process.env[name],
    addSignalListener: (signal, listener) => void process.on(signals[signal], listener),
    removeSignalListener: (signal, listener) => void process.off(signals[signal], listener),
    exit: (status) => process.exit(status),
    endWith: (status) => {
      process.exitCode = status;
    },
    print: (line) => void process.stdout.write(`${line}\n`),
  },
  crypto: () => Promise.resolve(crypto),
  cryptoNow: () => crypto,
  hasDenoKv: () => false,
  inScope: (value) => value,
  serialize,
  deserialize,
  isProxy: types.isProxy,
  inspect: (value, options) => inspect(value, options),
  nextTask: setImmediate,
  startTimer: (call, ms, { keepsAlive = true } = {}) => {
    const timer: unknown = setTimeout(call, ms);
    if (!keepsAlive) (timer as { unref?: () => void }).unref?.();
    return () => clearTimeout(timer as number);
  },
  onUnawaited: (saw) =>
    void process.on("unhandledRejection", (reason) => {
      if (saw(reason) || process.listenerCount("unhandledRejection") > 1) return;
      throw reason; // as Node does where nobody listens
    }),
  serve: serveNode,
};

const [readFile, writeFile] = [promisify(fs.read), promisify(fs.write)];
const [truncateFile, syncFile, syncData] = [
  promisify(fs.ftruncate),
  promisify(fs.fsync),
  promisify(fs.fdatasync),
];

/**
 * What follows the name of a file that is locked, for Node has no locks:
 * SQLite's, which end with the process.
 */
const LOCK = ".lock";

function flagsOf({ read = false, write = false, create = false, createNew = false }: FileOptions): number {
  const { O_RDONLY, O_WRONLY, O_RDWR, O_CREAT, O_EXCL } = fs.constants;
  const access = write ? (read ? O_RDWR : O_WRONLY) : O_RDONLY;
  return access | (create || createNew ? O_CREAT : 0) | (createNew ? O_EXCL : 0);
}

function openNodeFile(path: string, options: FileOptions = { read: true }): PlatformFile {
  return new NodeFile(path, fs.openSync(path, flagsOf(options), options.mode));
}

class NodeFile implements PlatformFile {
  readonly #path: string;
  readonly #fd: number;
  #at = 0;
  #lock: DatabaseSync | undefined;

  constructor(path: string, fd: number) {
    this.#path = path;
    this.#fd = fd;
  }

  async read(into: Uint8Array): Promise<number | null> {
    const { bytesRead } = await readFile(this.#fd, into, 0, into.length, this.#at);
    this.#at += bytesRead;
    return bytesRead === 0 && into.length > 0 ? null : bytesRead;
  }

  async write(bytes: Uint8Array): Promise<number> {
    const { bytesWritten } = await writeFile(this.#fd, bytes, 0, bytes.length, this.#at);
    this.#at += bytesWritten;
    return bytesWritten;
  }

  writeSync(bytes: Uint8Array): number {
    const written = fs.writeSync(this.#fd, bytes, 0, bytes.length, this.#at);
    this.#at += written;
    return written;
  }

  seek(offset: number, from: 0 | 2): Promise<number> {
    return Promise.resolve(this.seekSync(offset, from));
  }

  seekSync(offset: number, from: 0 | 2): number {
    return this.#at = offset + (from === SEEK.END ? fs.fstatSync(this.#fd).size : 0);
  }

  truncate(length: number): Promise<void> {
    return truncateFile(this.#fd, length);
  }

  sync(): Promise<void> {
    return syncFile(this.#fd);
  }

  syncData(): Promise<void> {
    return syncData(this.#fd);
  }

  // deno-lint-ignore require-await -- what fails is to reject
  async tryLock(): Promise<boolean> {
    const lock = new DatabaseSync(this.#path + LOCK);
    try {
      lock.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    } catch (error) {
      lock.close();
      if (!/locked/.test(String(error))) throw error;
      return false;
    }
    this.#lock = lock;
    return true;
  }

  close(): void {
    this.#lock?.close();
    fs.closeSync(this.#fd);
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

type Handler = (request: Request) => Response | Promise<Response>;

async function serveNode(
  { hostname, port }: { readonly hostname: string; readonly port: number },
  handler: Handler,
): Promise<PlatformServer> {
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing, handler));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, hostname, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    shutdown: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
}

async function answer(incoming: IncomingMessage, outgoing: ServerResponse, handler: Handler): Promise<void> {
  try {
    const response = await handler(await requestOf(incoming));
    outgoing.writeHead(response.status, [...response.headers].flat());
    let left = Number(response.headers.get("content-length") ?? NaN);
    for await (const chunk of response.body ?? []) {
      left -= chunk.length;
      if (!outgoing.write(chunk)) await new Promise((resolve) => outgoing.once("drain", resolve));
    }
    if (response.body !== null && left > 0) outgoing.destroy(); // the body is shorter than was said
    else outgoing.end();
  } catch {
    outgoing.destroy();
  }
}

async function requestOf(incoming: IncomingMessage): Promise<Request> {
  const { method = "GET", url = "/", rawHeaders } = incoming;
  const headers = new Headers();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index] ?? "", rawHeaders[index + 1] ?? "");
  }
  const chunks: BlobPart[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const body = method === "GET" || method === "HEAD" ? undefined : await new Blob(chunks).arrayBuffer();
  return new Request(new URL(url, `http://${incoming.headers.host ?? "localhost"}`), {
    method,
    headers,
    body,
  });
}
