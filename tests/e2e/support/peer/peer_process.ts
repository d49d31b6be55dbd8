/**
 * The process of a peer: requests and answers in lines of JSON, and what it tells in between.
 *
 * @module
 */

import { PATIENCE_MS } from "../deadline.ts";
import type { PeerEvent } from "./peer_event.ts";
import { peerCommand, type PeerKind } from "./peer_kind.ts";
import { linesOf } from "./peer_lines.ts";

const LOG_LINES = 40;

type Answer = { id: number; ok: unknown } | { id: number; error: string };

/** A running peer. */
export class PeerProcess {
  readonly #kind: PeerKind;
  readonly #child: Deno.ChildProcess;
  readonly #requests: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #log: string[] = [];
  readonly #reading: Promise<unknown>;
  #told: (event: PeerEvent) => void = () => {};
  #id = 0;
  #ended = false;

  private constructor(kind: PeerKind, child: Deno.ChildProcess) {
    this.#kind = kind;
    this.#child = child;
    this.#requests = child.stdin.getWriter();
    this.#reading = Promise.all([this.#read(), this.#keepLog()]);
  }

  /** Starts it. */
  static async start(kind: PeerKind): Promise<PeerProcess> {
    const { command, args } = await peerCommand(kind);
    const child = new Deno.Command(command, {
      args,
      env: { NO_COLOR: "1", PYTHONDONTWRITEBYTECODE: "1" },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    return new PeerProcess(kind, child);
  }

  /** Adds a listener for its output. */
  listen(told: (event: PeerEvent) => void): void {
    this.#told = told;
  }

  /** The last lines of what it wrote to standard error. */
  get log(): string {
    return this.#log.join("\n");
  }

  /**
   * Asks it to do something, and waits until it is done.
   *
   * @throws {Error} If it can't, or takes too long.
   */
  async request(verb: string, args: Record<string, unknown> = {}): Promise<unknown> {
    if (this.#ended) throw new Error(`Cannot ${verb}: ${this.#kind} has ended; its log:\n${this.log}`);
    const id = ++this.#id;
    const answer = Promise.withResolvers<unknown>();
    answer.promise.catch(() => {}); // if the request can't even be written, its answer is never awaited
    this.#waiting.set(id, answer);
    const late = () =>
      answer.reject(new Error(`${this.#kind} took too long to ${verb}; its log:\n${this.log}`));
    const timer = setTimeout(late, PATIENCE_MS);
    try {
      await this.#requests.write(new TextEncoder().encode(`${JSON.stringify({ ...args, id, do: verb })}\n`));
      return await answer.promise;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends it, at once and without a chance to save anything if `kill` is given. */
  async end(options: { kill?: boolean } = {}): Promise<void> {
    if (options.kill && !this.#ended) this.#child.kill("SIGKILL");
    await this.#requests.close().catch(() => {}); // it is gone already
    await this.#child.status;
    await this.#reading;
  }

  async #read(): Promise<void> {
    for await (const line of linesOf(this.#child.stdout)) {
      const parsed: PeerEvent | Answer = JSON.parse(line);
      if ("event" in parsed) {
        this.#told(parsed);
        continue;
      }
      const waiting = this.#waiting.get(parsed.id);
      this.#waiting.delete(parsed.id);
      if ("ok" in parsed) waiting?.resolve(parsed.ok);
      else waiting?.reject(new Error(`${this.#kind}: ${parsed.error}`));
    }
    this.#ended = true;
    const ended = new Error(`${this.#kind} has ended; its log:\n${this.log}`);
    for (const { reject } of this.#waiting.values()) reject(ended);
  }

  async #keepLog(): Promise<void> {
    for await (const line of linesOf(this.#child.stderr)) {
      this.#log.push(line);
      if (this.#log.length > LOG_LINES) this.#log.shift();
    }
  }
}
