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
import { inspect, types } from "node:util";
import * as v8 from "node:v8";
import { openNodeFile } from "./node_file.ts";
import { serveNode } from "./node_server.ts";
import * as tagged from "./tagged_codec.ts";
import type { Platform } from "./port.ts";
import { addNewerLanguage } from "./newer_language.ts";

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
  unref: (timer) => void (timer as { unref?: () => void }).unref?.(),
  onUnawaited: (saw) =>
    void process.on("unhandledRejection", (reason) => {
      if (saw(reason) || process.listenerCount("unhandledRejection") > 1) return;
      throw reason; // as Node does where nobody listens
    }),
  serve: serveNode,
};
