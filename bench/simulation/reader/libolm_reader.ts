/**
 * Another implementation that reads encrypted traffic: libolm, in a process of Python.
 *
 * @module
 */

import type { JsonObject } from "../../../src/types/json.ts";
import { linesOf } from "../../../tests/e2e/support/peer/peer_lines.ts";

/** A device: its account, and its keys as a server takes them. */
export interface ReaderKeys {
  /** The account, which only libolm can read. */
  readonly account: string;
  /** Its signed keys. */
  readonly device_keys: JsonObject;
  /** Its signed one-time keys, by key ID. */
  readonly one_time_keys: JsonObject;
}

/** What a device has been given. */
export interface Traffic {
  readonly account: string;
  readonly user_id: string;
  readonly device_id: string;
  /** The keys of all devices that may have written. */
  readonly device_keys: readonly unknown[];
  /** The messages to the device, in order. */
  readonly to_device: readonly unknown[];
  /** The encrypted events of rooms. */
  readonly events: readonly unknown[];
}

/** What became of it. */
export interface Reading {
  /** The type and the content of each event, by event ID. */
  readonly decrypted: Readonly<Record<string, { readonly type: string; readonly content: JsonObject }>>;
  /** The IDs of events whose key has not come. */
  readonly unreadable: readonly string[];
  /** What is not as the specification says. */
  readonly problems: readonly string[];
}

const SCRIPT = new URL("./reader.py", import.meta.url).pathname;

/** A running reader. */
export class LibolmReader implements AsyncDisposable {
  readonly #process: Deno.ChildProcess;
  readonly #requests: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly #answers: AsyncGenerator<string>;

  /** @param python A Python that has python-olm. */
  constructor(python: string) {
    const command = new Deno.Command(python, { args: [SCRIPT], stdin: "piped", stdout: "piped" });
    this.#process = command.spawn();
    this.#requests = this.#process.stdin.getWriter();
    this.#answers = linesOf(this.#process.stdout);
  }

  /** Makes a device. */
  async make(device: { user_id: string; device_id: string; one_time_keys: number }): Promise<ReaderKeys> {
    return await this.#ask({ do: "make", ...device }) as ReaderKeys;
  }

  /** Decrypts what can be decrypted. */
  async read(traffic: Traffic): Promise<Reading> {
    return await this.#ask({ do: "read", ...traffic }) as Reading;
  }

  async #ask(request: object): Promise<unknown> {
    await this.#requests.write(new TextEncoder().encode(`${JSON.stringify(request)}\n`));
    const { value, done } = await this.#answers.next();
    if (done) throw new Error("The reader has ended; its error stands above");
    return JSON.parse(value);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#requests.close();
    await this.#answers.return(undefined);
    await this.#process.status;
  }
}
