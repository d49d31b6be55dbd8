/**
 * A mail server on loopback that keeps what it is given.
 *
 * @module
 */

import { within } from "./deadline.ts";

/** What it says to each command of SMTP that it is sent; 250 to all others. */
const REPLIES: Readonly<Record<string, string>> = { DATA: "354 Go on", QUIT: "221 Bye" };

/** Takes all letters. */
export class Mailbox implements AsyncDisposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #letters: string[] = [];
  readonly #serving: Promise<void>;
  #arrived = Promise.withResolvers<void>();

  constructor() {
    this.#serving = this.#serve();
  }

  /** Where it listens. */
  get port(): number {
    return this.#listener.addr.port;
  }

  /** The plain text of the next letter, which comes within a while. */
  async next(): Promise<string> {
    await within(this.#arrived.promise, "a letter has not come");
    const letter = this.#letters.shift() ?? "";
    if (this.#letters.length === 0) this.#arrived = Promise.withResolvers();
    const [, text = ""] = /text\/plain[^]*?\r\n\r\n([\w+/=\r\n]+)/.exec(letter) ?? [];
    return new TextDecoder().decode(Uint8Array.fromBase64(text));
  }

  async #serve(): Promise<void> {
    for await (const connection of this.#listener) await this.#talk(connection);
  }

  /** One letter after the other: a client that sends two at once waits. */
  async #talk(connection: Deno.Conn): Promise<void> {
    using _ = connection;
    const encoder = new TextEncoder();
    const say = (line: string) => connection.write(encoder.encode(`${line}\r\n`));
    await say("220 localhost");
    let [received, isLetter] = ["", false];
    for await (const part of connection.readable.pipeThrough(new TextDecoderStream())) {
      received += part;
      for (;;) {
        const [mark, length] = isLetter ? ["\r\n.\r\n", 5] : ["\r\n", 2];
        const end = received.indexOf(mark);
        if (end < 0) break;
        const said = received.slice(0, end);
        received = received.slice(end + length);
        const reply = isLetter ? undefined : REPLIES[said.toUpperCase()];
        if (isLetter) {
          this.#letters.push(said);
          this.#arrived.resolve();
        }
        isLetter = said.toUpperCase() === "DATA";
        await say(reply ?? "250 Yes");
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    await this.#serving;
  }
}
