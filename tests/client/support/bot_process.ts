/**
 * Bots in processes of their own, on a homeserver in this one.
 *
 * @module
 */

import { Client } from "@greenroom/matrix";
import { Homeserver } from "@greenroom/matrix/testing";
import type { RoomID } from "@greenroom/matrix/types";

const PROGRAM = new URL("bot_program.ts", import.meta.url).pathname;

/** The stores that are files. */
export type FileStore = "SqliteStore" | "KvStore";

/** A line that a bot has said: what kind, and what. */
type Line = readonly [kind: "heard" | "answered" | "stopped" | "log", text: string];

/** A bot's process. */
export class BotProcess {
  readonly #process: Deno.ChildProcess;
  readonly #reader: AsyncIterator<string>;
  /** What it has said up to now. */
  readonly said: Line[] = [];

  constructor(args: readonly string[]) {
    const flags = ["--no-check", "--quiet", "--unstable-kv", "--allow-net", "--allow-read", "--allow-write"];
    this.#process = new Deno.Command(Deno.execPath(), {
      args: ["run", ...flags, PROGRAM, ...args],
      stdout: "piped",
    }).spawn();
    this.#reader = linesOf(this.#process.stdout);
  }

  /** Waits until it says something, or has said it. */
  async says(kind: Line[0], text: string): Promise<void> {
    const isSaid = () => this.said.some(([of, what]) => of === kind && what.includes(text));
    while (!isSaid()) {
      if (!await this.#next()) throw new Error(`It ended without "${kind} ${text}": ${this.said.join("; ")}`);
    }
  }

  /** Sends it a signal. */
  send(signal: Deno.Signal): void {
    this.#process.kill(signal);
  }

  /** Waits for its end, and reads its output until then. */
  async ended(): Promise<Deno.CommandStatus> {
    while (await this.#next());
    return await this.#process.status;
  }

  /** Whether it has had to wait for its device. */
  get hasWaited(): boolean {
    return this.said.some(([kind, text]) => kind === "log" && text.startsWith("Waiting for a device"));
  }

  async #next(): Promise<boolean> {
    const { value, done } = await this.#reader.next();
    if (!done) this.said.push(JSON.parse(value));
    return !done;
  }
}

/** A homeserver, a room with Alice and some bots, and a folder. */
export interface BotStage extends AsyncDisposable {
  readonly alice: Client;
  readonly room: RoomID;
  /** Starts the bots. */
  start(options?: { signals?: boolean }): BotProcess;
  /** How often something was said in the room. */
  count(body: string): Promise<number>;
}

/** Sets the stage for bots whose processes can be killed. */
export async function botStage(kind: FileStore, names = ["bot"]): Promise<BotStage> {
  const homeserver = new Homeserver();
  const baseUrl = await homeserver.listen();
  const folder = await Deno.makeTempDir();
  const alice = new Client({ baseUrl, accessToken: homeserver.createUser("alice").accessToken });
  const room = await alice.createRoom({ preset: "public_chat" });
  const tokens: string[] = [];
  for (const name of names) {
    const { accessToken } = homeserver.createUser(name);
    await using bot = new Client({ baseUrl, accessToken });
    await bot.joinRoom(room);
    tokens.push(accessToken);
  }
  const started: BotProcess[] = [];
  return {
    alice,
    room,
    start({ signals = false } = {}) {
      const args = [baseUrl, kind, `${folder}/bot.db`, signals ? "signals" : "no signals", ...tokens];
      const process = new BotProcess(args);
      started.push(process);
      return process;
    },
    async count(body) {
      const { chunk } = await alice.getMessages(room, "b", undefined, { limit: 100 });
      return chunk.filter(({ content }) => content.body === body).length;
    },
    async [Symbol.asyncDispose]() {
      for (const process of started) {
        try {
          process.send("SIGKILL");
        } catch {
          // It has ended.
        }
        await process.ended();
      }
      await alice.close();
      await homeserver[Symbol.asyncDispose]();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let text = "";
  for await (const part of stream.pipeThrough(new TextDecoderStream())) {
    text += part;
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    yield* lines;
  }
}
