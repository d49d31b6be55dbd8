/**
 * The toy network: channels in which people talk, over TCP, a line for each thing.
 *
 * With `nc localhost 7000`: `NICK bob`, `JOIN lobby`, `SAY lobby Hello`, `EDIT <id> Hello!`,
 * `DEL <id>`. A bridge says `LINK <number>`, gets all that came after that number, and speaks for
 * others: `AS <id> <nick> SAY lobby Hello`, which is answered by `OK <id>` and, however often it is
 * said, done once. All get `<number> <id> <nick> <verb> …` of what happens.
 *
 * In nicks, spaces and the like are percent-encoded; in texts a line break is `\n`.
 */

/** Something that happened in a channel. */
export interface Happening {
  /** Greater for what came later, also after the network was restarted. */
  number: number;
  /** The message that it is about, or that it is. */
  id: string;
  nick: string;
  channel: string;
  verb: "SAY" | "EDIT" | "DEL" | "JOIN" | "PART";
  text: string;
}

/** Something to read lines from and write lines to: a TCP connection, for one. */
export interface Connection {
  readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly writable: WritableStream<Uint8Array<ArrayBuffer>>;
  /** Ends it, whatever is under way. */
  close(): void;
}

/** A line may be so long, in characters; and so much of what happened is remembered. */
export const MAX_LINE = 20_000;
const REMEMBERED = 10_000;
const MAX_NICK = 16;
const MAX_ID = 300;
/** What a channel can be called. */
export const CHANNEL = /^[\w-]{1,30}$/;
/** How the nicks of those end who are not on this network, but behind a bridge. */
export const BRIDGED = "[m]";

/** The network. */
export class ToyNetwork {
  readonly happenings: Happening[] = [];
  readonly #done = new Set<string>();
  readonly #listeners = new Set<(happening: Happening) => void>();
  #last = Date.now();

  /** Has somebody do something, as a connection would. */
  do(nick: string, verb: Happening["verb"], channel: string, { id = "", text = "" } = {}): Happening {
    const happening = { number: ++this.#last, id, nick, channel, verb, text };
    if (verb !== "EDIT" && verb !== "DEL") happening.id ||= `n${happening.number}`;
    this.happenings.push(happening);
    if (this.happenings.length > REMEMBERED) this.happenings.shift();
    for (const listener of [...this.#listeners]) listener(happening);
    return happening;
  }

  /** Serves a connection until it ends. */
  async serve({ readable, writable }: Connection): Promise<void> {
    const writer = new LineWriter(writable);
    const tell = (each: Happening) => void writer.write(lineOf(each)).catch(() => {}); // it is gone
    const guest: Guest = { nick: "", isLink: false, channels: new Set() };
    try {
      for await (const line of linesOf(readable)) {
        const [verb = "", rest = ""] = cut(line);
        if (verb === "LINK") {
          guest.isLink = true;
          const since = rest === "" ? Infinity : Number(rest);
          await writer.write(`HELLO ${this.#last}`);
          for (const each of this.happenings) if (each.number > since) tell(each);
          this.#listeners.add(tell);
          continue;
        }
        const answer = guest.isLink ? this.#speakFor(line) : this.#command(guest, verb, rest);
        if (verb === "NICK" && answer === undefined) this.#listeners.add(tell);
        if (answer !== undefined) await writer.write(answer);
      }
    } finally {
      this.#listeners.delete(tell);
      for (const channel of guest.channels) this.do(guest.nick, "PART", channel);
      await writer.close();
    }
  }

  /** What a bridge says for others. */
  #speakFor(line: string): string {
    const { as, id, nick, verb, target, text } = words(line, "as", "id", "nick", "verb", "target", "text");
    if (as !== "AS" || id === "" || nick === "" || target === "") {
      return `ERR ${id || "-"} say AS <id> <nick> …`;
    }
    const key = `${id} ${verb}`;
    if (this.#done.has(key)) return `OK ${id}`;
    if (verb === "SAY" && CHANNEL.test(target)) {
      this.do(decode(nick), "SAY", target, { id, text: unescape(text) });
    } else if (verb === "EDIT" || verb === "DEL") {
      const original = this.#message(target);
      if (original === undefined) return `ERR ${id} there is no such message`;
      this.do(decode(nick), verb, original.channel, { id: target, text: unescape(text) });
    } else return `ERR ${id} there is no ${verb}`;
    this.#done.add(key);
    return `OK ${id}`;
  }

  /** What somebody says; an answer is an error. */
  #command(guest: Guest, verb: string, rest: string): string | undefined {
    if (verb === "NICK") {
      const nick = decode(rest);
      if (nick === "" || nick.length > MAX_NICK || nick.endsWith(BRIDGED)) return "ERR - that is no nick";
      guest.nick = nick;
      return undefined;
    }
    if (guest.nick === "") return "ERR - say NICK first";
    const { target, text } = words(rest, "target", "text");
    if (target === "") return "ERR - where?";
    if (["JOIN", "PART", "SAY"].includes(verb) && !CHANNEL.test(target)) return "ERR - that is no channel";
    if (verb === "JOIN") guest.channels.add(target);
    if (verb === "PART") guest.channels.delete(target);
    if (verb === "JOIN" || verb === "PART" || verb === "SAY") {
      this.do(guest.nick, verb, target, { text: unescape(text) });
      return undefined;
    }
    if (verb !== "EDIT" && verb !== "DEL") return `ERR - there is no ${verb}`;
    const original = this.#message(target);
    if (original?.nick !== guest.nick) return "ERR - that is not yours";
    this.do(guest.nick, verb, original.channel, { id: target, text: unescape(text) });
    return undefined;
  }

  #message(id: string): Happening | undefined {
    return this.happenings.find((each) => each.id === id && each.verb === "SAY");
  }
}

/** Somebody who is connected. */
interface Guest {
  nick: string;
  isLink: boolean;
  readonly channels: Set<string>;
}

/** Writes lines, one after the other. */
export class LineWriter {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;

  constructor(writable: Connection["writable"]) {
    this.#writer = writable.getWriter();
  }

  async write(line: string): Promise<void> {
    await this.#writer.write(new TextEncoder().encode(`${line}\n`));
  }

  async close(): Promise<void> {
    await this.#writer.close().catch(() => {}); // it is closed
  }
}

/** The lines of a connection, without those that are too long. */
export async function* linesOf(readable: Connection["readable"]): AsyncIterableIterator<string> {
  let rest = "";
  let isTooLong = false;
  for await (const text of readable.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split(/\r?\n/);
    rest = lines.pop() ?? "";
    for (const [index, line] of lines.entries()) {
      const isWhole = index > 0 || !isTooLong;
      if (isWhole && line !== "" && line.length <= MAX_LINE) yield line;
    }
    isTooLong = rest.length > MAX_LINE || (isTooLong && lines.length === 0);
    if (isTooLong) rest = "";
  }
}

/** What happened, as a line. */
export function lineOf({ number, id, nick, channel, verb, text }: Happening): string {
  return `${number} ${id} ${encode(nick)} ${verb} ${channel} ${escape(text)}`.trimEnd();
}

/** What happened, of a line; undefined: it tells of nothing. */
export function readLine(line: string): Happening | undefined {
  const read = words(line, "number", "id", "nick", "verb", "channel", "text");
  const { number, id, channel, verb } = read;
  const nick = decode(read.nick).slice(0, MAX_NICK);
  const isKnown = ["SAY", "EDIT", "DEL", "JOIN", "PART"].includes(verb);
  const isWhole = /^\d{1,16}$/.test(number) && id.length <= MAX_ID && nick !== "" && CHANNEL.test(channel);
  if (!isKnown || !isWhole) return undefined;
  const text = unescape(read.text);
  return { number: Number(number), id, nick, channel, verb: verb as Happening["verb"], text };
}

/** A text without line breaks. */
export function escape(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll(/\r?\n/g, "\\n");
}

/** The text of what has none. */
export function unescape(text: string): string {
  return text.replaceAll(/\\(.)/g, (_, each) => each === "n" ? "\n" : each);
}

/** A nick as one word. */
export function encode(nick: string): string {
  return encodeURIComponent(nick.toWellFormed());
}

function decode(word: string): string {
  try {
    return decodeURIComponent(word).trim();
  } catch {
    return "";
  }
}

function cut(line: string): [string, string] {
  const at = line.indexOf(" ");
  return at < 0 ? [line, ""] : [line.slice(0, at), line.slice(at + 1)];
}

/** The words of a line, the last of which is all the rest. */
/** So many words of a line; the last one is all the rest. */
function words<const Names extends readonly string[]>(
  line: string,
  ...names: Names
): { [_ in Names[number]]: string } {
  const found: Record<string, string> = {};
  let rest = line;
  for (const [index, name] of names.entries()) {
    const [word, after] = index === names.length - 1 ? [rest, ""] : cut(rest);
    found[name] = word;
    rest = after;
  }
  return found as { [_ in Names[number]]: string };
}

if (import.meta.main) {
  const network = new ToyNetwork();
  for await (const connection of Deno.listen({ port: 7000 })) network.serve(connection).catch(() => {});
}
