/**
 * The world of a story: a homeserver, people, a bot, and a count of messages to it and answers.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { Client, type ClientOptions } from "@greenroom/matrix";
import type { RoomID, UserID } from "@greenroom/matrix/types";
import type { OperationsHost } from "../operations/support/operation.ts";
import type { Unlimited } from "../../tools/synapse/exceptions.ts";
import { Bot, type BotOptions } from "./bot.ts";
import { Person } from "./person.ts";
import type { Story } from "./story.ts";
import type { BotAccount, Kind, Transport } from "./transports/transport.ts";
import { EVERYBODY } from "../support/everybody.ts";
import { PATIENCE_MS } from "../e2e/support/deadline.ts";

/** A homeserver that stories are told on. */
export interface StoryHost extends OperationsHost {
  /**
   * Ends the homeserver, and starts it again with all that it knows: of one that belongs to the
   * story.
   */
  restart(): Promise<void>;
  /**
   * Makes the account of a bot.
   *
   * @param unlimited Why it has no rate limits. Default: it has those of the homeserver.
   */
  bot(transport: Transport, unlimited?: Unlimited): Promise<BotAccount>;
  /**
   * Whether it may keep a transaction back until another comes, as Synapse does with one that it makes
   * in the moment in which it has sent those again that had failed. Default: no.
   */
  readonly keepsBack?: boolean;
}

/** How a story is told. */
export interface Telling {
  /** Whether rooms are encrypted. */
  readonly encrypted: boolean;
  /** How the bot gets what is new. Default: it polls. */
  readonly transport?: Transport;
  /** What the bot is made with. Default: the client alone. */
  readonly kind?: Kind;
}

/** What one telling plays with; disposing of it ends everybody. */
export class World implements AsyncDisposable {
  readonly host: StoryHost;
  readonly encrypted: boolean;
  readonly transport: Transport;
  readonly kind: Kind;
  readonly #people: Person[] = [];
  readonly #bots: Bot[] = [];
  readonly #unlimited?: Unlimited;

  /** @param host The homeserver. */
  constructor(
    host: StoryHost,
    { encrypted, transport = "polling", kind = "client", talkative = false }:
      & Telling
      & Pick<Story, "talkative">,
  ) {
    if (talkative) this.#unlimited = "talkative";
    this.kind = kind;
    this.host = host;
    this.encrypted = encrypted;
    this.transport = transport;
  }

  /** A new user, who syncs. */
  async person(name: string): Promise<Person> {
    const account = await this.host.register(name, "people");
    return this.#meet(this.client({ accessToken: account.accessToken }), account.userId);
  }

  /** A person whose messages to devices are kept back until they are delivered. */
  async late(name: string): Promise<{ readonly person: Person; readonly deliver: () => Promise<void> }> {
    const { accessToken, userId } = await this.host.register(name, "people");
    const kept: Request[] = [];
    const client = this.client({
      accessToken,
      fetch: (input, init) => {
        const request = new Request(input, init);
        if (!request.url.includes("/sendToDevice/")) return this.host.fetch(request);
        kept.push(request);
        return Promise.resolve(Response.json({}));
      },
    });
    const person = this.#meet(client, userId);
    const deliver = async (): Promise<void> => {
      for (const request of kept) await (await this.host.fetch(request)).body?.cancel();
    };
    return { person, deliver };
  }

  /** Whether the bot may not be told of something before something else happens. */
  get keepsBack(): boolean {
    return this.host.keepsBack === true && this.transport === "transactions";
  }

  /** A person with a client. */
  #meet(client: Client, userId: UserID): Person {
    const person = new Person(client, { userId, keepsBack: this.keepsBack });
    this.#people.push(person);
    return person;
  }

  /** A client of this world for a person. */
  client(options: Partial<ClientOptions>): Client {
    const { baseUrl, fetch } = this.host;
    const encryption = this.encrypted && EVERYBODY;
    return new Client({ baseUrl, fetch, encryption, log: SILENT, closeTimeout: PATIENCE_MS, ...options });
  }

  /** A new bot, which is not started. */
  async bot(options: Partial<BotOptions> = {}): Promise<Bot> {
    const { host: { baseUrl, fetch }, encrypted, kind } = this;
    const account = options.account ?? await this.host.bot(this.transport, this.#unlimited);
    const goOn = () => Promise.all(this.#people.map((person) => person.makeNoise()));
    const more = this.keepsBack && { goOn };
    const bot = new Bot({ baseUrl, fetch, account, encrypted, kind, ...more, ...options });
    this.#bots.push(bot);
    return bot;
  }

  /** Alice, and a bot that syncs and is in a room with her. */
  async conversation(options: Partial<BotOptions> = {}): Promise<{ alice: Person; bot: Bot; talk: Talk }> {
    const [alice, bot] = [await this.person("alice"), await this.bot(options)];
    await bot.start();
    return { alice, bot, talk: await this.talk(alice, bot) };
  }

  /**
   * A conversation in a room of its own, which the bot is invited to and joins: it has to be alive.
   */
  async talk(person: Person, bot: Bot): Promise<Talk> {
    const room = await person.room(this.encrypted, bot.userId);
    await person.sees(room, bot.userId, "join");
    return new Talk(room, person, bot);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#bots.map((bot) => bot.stop()));
    await Promise.all(this.#people.map(({ client }) => client.close()));
  }
}

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** What a person says to a bot in a room, and what comes back. */
export class Talk {
  readonly room: RoomID;
  /** Who talks. */
  readonly person: Person;
  /** What the bot has to answer, in order. */
  readonly said: string[] = [];
  /** What it must not answer: it was not there, or must not listen. */
  readonly #unheard: string[] = [];
  readonly #bot: Bot;

  constructor(room: RoomID, person: Person, bot: Bot) {
    this.room = room;
    this.person = person;
    this.#bot = bot;
  }

  /** Says so many things, one after the other. */
  async say(count: number): Promise<void> {
    for (let i = 0; i < count; i++) await this.#say(this.said, `text ${this.said.length + 1}`);
  }

  /** Says so many things that the bot must not answer. */
  async sayUnheard(count: number): Promise<void> {
    for (let i = 0; i < count; i++) await this.#say(this.#unheard, `unheard ${this.#unheard.length + 1}`);
  }

  /** Waits until the bot has joined the room again. */
  async joined(): Promise<void> {
    await this.person.sees(this.room, this.#bot.userId, "join");
  }

  /** Waits until the last that was said is answered, and looks whether each was, once. */
  async answered(): Promise<void> {
    const { room, said } = this;
    const answers = () => this.person.of(room, this.#bot.userId);
    await this.person.reads(room, this.#bot.userId, said.length).catch((cause) => {
      const missing = said.filter((text) => !answers().some((answer) => answer.endsWith(`: ${text}`)));
      const { handled, told, printed } = this.#bot;
      throw new Error(
        `No answer to ${missing.join(", ")}: ${
          JSON.stringify({ answers: answers(), handled, told, printed })
        }`,
        { cause },
      );
    });
    this.check();
  }

  /**
   * Looks whether what was said is answered once, with counts that have no gap, and nothing else
   * is.
   */
  check(): void {
    const answers = this.person.of(this.room, this.#bot.userId);
    const texts = answers.map((answer) => answer.replace(/^\d+: /, ""));
    assertEquals(texts.toSorted(byNumber), this.said, "each is to be answered once");
    const counts = answers.map((answer) => Number.parseInt(answer));
    assertEquals(new Set(counts).size, counts.length, "each is to be counted once");
    assertEquals(Math.max(...counts), this.said.length, "the count is to have no gap");
  }

  async #say(list: string[], text: string): Promise<void> {
    list.push(text);
    await this.person.client.sendText(this.room, text);
  }
}

function byNumber(one: string, other: string): number {
  return Number(one.split(" ").at(-1)) - Number(other.split(" ").at(-1));
}

/** Tells a story in all the ways that it is to be told. */
export async function tell(story: Story, telling: Telling, host: StoryHost): Promise<void> {
  await using world = new World(host, { ...telling, talkative: story.talkative });
  await story.tell(world);
}
