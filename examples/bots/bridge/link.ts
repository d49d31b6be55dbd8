/** The bridge's end of the toy network: it goes on where it was, and says each thing once. */

import { type Bot, defineSession } from "@greenroom/matrix/bot";
import {
  type Connection,
  encode,
  escape,
  type Happening,
  linesOf,
  LineWriter,
  MAX_LINE,
  readLine,
} from "./network.ts";

/** How far the network was heard; undefined: it was not yet. */
const HEARD = defineSession({
  name: "bridge.heard",
  per: () => undefined,
  initial: () => ({ number: undefined as number | undefined }),
});
/** What is to be said on the network, in the order of the keys. */
const UNSAID = defineSession({
  name: "bridge.unsaid",
  per: () => undefined,
  initial: () => ({ id: "", line: "" }),
});

/** The shortest and the longest time between two tries to connect, in milliseconds. */
const RETRY = 500;
const LONGEST_RETRY = 60_000;
/** So much of a text is said there. */
const MAX_TEXT = MAX_LINE / 4;

/** Something to say on the network for somebody. */
export interface Saying {
  /** The same for the same thing: the network does it once. */
  id: string;
  nick: string;
  verb: "SAY" | "EDIT" | "DEL";
  /** The channel, or the message that it is about. */
  target: string;
  text: string;
}

/** What a link needs. */
export interface LinkOptions {
  bot: Bot;
  /** Connects to the network. */
  connect: () => Promise<Connection>;
  /** Does in rooms what happened there. It is done once: what it sends has IDs that name the happening. */
  happened: (happening: Happening) => Promise<void>;
}

/** A link to the network. */
export class Link {
  readonly #options: LinkOptions;
  #writer: LineWriter | undefined;
  /** What the network was told on this connection, and has not answered. */
  readonly #told = new Map<string, string>();
  #last = 0;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  /** Keeps something to say, and says it as soon as the network is there. */
  async say({ id, nick, verb, target, text }: Saying): Promise<void> {
    const { client } = this.#options.bot;
    const line = `AS ${id} ${encode(nick)} ${verb} ${target} ${escape(text.slice(0, MAX_TEXT))}`.trimEnd();
    this.#last = Math.max(this.#last + 1, client.api.clock.now() * 1_000); // later ones come later
    const key = String(this.#last).padStart(17, "0");
    await client.sessions.update(UNSAID, key, () => ({ id, line }));
    this.#flush();
  }

  /** Stays connected until a signal ends it. */
  async run(signal: AbortSignal): Promise<void> {
    const { bot: { client }, connect } = this.#options;
    let wait = RETRY;
    while (!signal.aborted) {
      try {
        const connection = await connect();
        await this.#follow(connection, signal, () => wait = RETRY);
      } catch (error) {
        if (!signal.aborted) client.log.warn("The network can't be reached, or broke off", { error });
      }
      if (signal.aborted) return;
      await client.api.clock.delay(wait, { signal }).catch(() => {});
      wait = Math.min(2 * wait, LONGEST_RETRY);
    }
  }

  async #follow(connection: Connection, signal: AbortSignal, heard: () => void): Promise<void> {
    const { bot: { client } } = this.#options;
    const writer = new LineWriter(connection.writable);
    const end = () => connection.close();
    signal.addEventListener("abort", end);
    try {
      signal.throwIfAborted();
      const { number } = await client.sessions.read(HEARD, "network") ?? {};
      await writer.write(`LINK ${number ?? ""}`);
      for await (const line of linesOf(connection.readable)) {
        if (signal.aborted) return;
        heard();
        const [word, rest = ""] = line.split(" ");
        if (word === "HELLO") {
          // What happened before the very first connection is not for the rooms.
          if (number === undefined) {
            await client.sessions.update(HEARD, "network", () => ({ number: Number(rest) || 0 }));
          }
          this.#writer = writer;
          this.#flush();
        } else if (word === "OK" || word === "ERR") {
          if (word === "ERR") client.log.warn("The network does not take something", { line });
          await this.#answered(rest);
        } else {
          await this.#heard(line);
        }
      }
    } finally {
      signal.removeEventListener("abort", end);
      this.#writer = undefined;
      this.#told.clear();
      end();
    }
  }

  /** Does what happened, and notes it in one commit. */
  async #heard(line: string): Promise<void> {
    const happening = readLine(line);
    if (happening === undefined) return;
    const { bot: { client }, happened } = this.#options;
    await client.runTask(`network ${happening.number}`, async (context) => {
      const { number = 0 } = await client.sessions.read(HEARD, "network") ?? {};
      if (happening.number <= number) return;
      await happened(happening);
      context.updateSession(HEARD, "network", () => ({ number: happening.number }));
    });
  }

  /** Says what is unsaid. Nobody waits for it: the network may write much before it reads on. */
  #flush(): void {
    const { client } = this.#options.bot;
    this.#sayAll().catch((error) => client.log.warn("What is unsaid could not be said", { error }));
  }

  async #sayAll(): Promise<void> {
    const writer = this.#writer;
    if (writer === undefined) return;
    for await (const { key, state } of this.#options.bot.client.sessions.list(UNSAID)) {
      if (this.#told.has(String(key))) continue;
      if (writer !== this.#writer) return; // the next connection does it
      this.#told.set(String(key), state.id);
      await writer.write(state.line).catch(() => {});
    }
  }

  async #answered(id: string): Promise<void> {
    const key = this.#told.entries().find(([, each]) => each === id)?.[0];
    if (key === undefined) return;
    await this.#options.bot.client.sessions.end(UNSAID, key);
    this.#told.delete(key);
  }
}
