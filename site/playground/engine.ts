/**
 * What the playground runs: a homeserver in the browser, and on it a user and the bot that is typed into
 * the page.
 *
 * @module
 */

import * as matrix from "@greenroom/matrix";
import { BotTester } from "@greenroom/matrix/testing";
import type { JsonObject, RoomID } from "@greenroom/matrix/types";
import { testedBot } from "./evaluate.ts";

/** A line of the chat. */
export interface Line {
  id: string;
  /** Whether the bot said it. */
  isBot: boolean;
  text: string;
  html: string | undefined;
  reactions: string[];
  /** The answers of a poll to choose from. */
  choices: { id: string; text: string }[];
  /** The beginning of what the homeserver has of it, if it is encrypted. */
  sealed: string | undefined;
}

const POLL = "org.matrix.msc3381.poll.start";

// deno-lint-ignore no-explicit-any -- contents of events, of which only what is shown is looked at
type Content = any;

/** What a user reads. */
interface ReadEvent {
  event_id: string;
  type: string;
  sender: string;
  content: Content;
}

/** The user who talks to the bot, in a room of the two. */
interface User extends AsyncDisposable {
  readonly room: RoomID;
  readonly events: readonly ReadEvent[];
  send(type: string, content: JsonObject): Promise<unknown>;
}

async function plainUser(tester: BotTester): Promise<User> {
  const room = await tester.room("you");
  return {
    room: room.id,
    get events() {
      return room.view().messages;
    },
    send: (type, content) => room.send(type, content),
    async [Symbol.asyncDispose]() {},
  };
}

/** A user with a device, whose room is encrypted. */
async function encryptedUser(tester: BotTester): Promise<User> {
  await tester.start();
  const { homeserver, clock, mxid } = tester;
  const { accessToken, userId } = homeserver.createUser("you");
  const { baseUrl, fetch } = homeserver;
  const encryption = { sendTo: "all", accept: "all" } as const; // nobody has signed a device here
  const client = new matrix.Client({
    baseUrl,
    fetch,
    accessToken,
    mxid: userId,
    clock,
    encryption,
    log: false,
  });
  const events: ReadEvent[] = [];
  for (const type of ["m.room.message", "m.reaction", POLL] as const) {
    client.on(type, (event) => void events.push(event as ReadEvent));
  }
  const running = client.start();
  const algorithm = "m.megolm.v1.aes-sha2";
  const room = await client.createRoom({
    isDirect: true,
    invitees: [mxid],
    initialState: [{
      type: "m.room.encryption",
      state_key: "",
      content: { algorithm },
    }],
  });
  await tester.until(
    () => homeserver.room(room).membership(mxid) === "join",
    "The bot was to join, and has not",
  );
  return {
    room,
    events,
    send: (type, content) => client.sendMessageEvent(room, type, content),
    async [Symbol.asyncDispose]() {
      await client.close();
      await running;
    },
  };
}

/** A chat between a user and the bot that a text makes. */
export class Playground implements AsyncDisposable {
  readonly #tester: BotTester;
  readonly #user: User;
  readonly #text: { now: string };

  private constructor(tester: BotTester, user: User, text: { now: string }) {
    this.#tester = tester;
    this.#user = user;
    this.#text = text;
  }

  /** Makes a homeserver, a room with a user and the bot, and starts it. */
  static async open(
    code: string,
    options: { encrypted: boolean },
  ): Promise<Playground> {
    const text = { now: code };
    const tester = new BotTester((tested) => testedBot(text, tested));
    const user = await (options.encrypted ? encryptedUser(tester) : plainUser(tester));
    return new Playground(tester, user, text);
  }

  /** Says something in the room. */
  async say(text: string): Promise<void> {
    await this.#user.send("m.room.message", { msgtype: "m.text", body: text });
  }

  /** Votes in a poll. */
  async vote(poll: string, choice: string): Promise<void> {
    await this.#user.send("org.matrix.msc3381.poll.response", {
      "m.relates_to": { rel_type: "m.reference", event_id: poll },
      "org.matrix.msc3381.poll.response": { answers: [choice] },
    });
  }

  /** Moves the clock of the bot and the homeserver on. */
  async pass(ms: number): Promise<void> {
    await this.#tester.pass(ms);
  }

  /** Stops the bot, and starts it anew as another text makes it, with what it has stored. */
  async restart(code: string): Promise<void> {
    this.#text.now = code;
    await this.#tester.restart();
  }

  /** What the clock says. */
  get now(): number {
    return this.#tester.clock.now();
  }

  /** What the bot has logged. */
  get logged(): readonly string[] {
    return this.#tester.logged;
  }

  /** What the chat shows, with edits and reactions applied. */
  get lines(): Line[] {
    const lines = new Map<string, Line>();
    for (const { event_id: id, type, sender, content } of this.#user.events) {
      const isBot = sender === this.#tester.mxid;
      const { rel_type, event_id: related, key } = content["m.relates_to"] ??
        {};
      const target = lines.get(related);
      if (type === "m.reaction") target?.reactions.push(String(key));
      else if (
        type === "m.room.message" && rel_type === "m.replace" && target
      ) {
        Object.assign(target, textOf(content["m.new_content"]));
      } else if (type === "m.room.message" || type === POLL) {
        const shown = type === POLL ? pollOf(content) : { ...textOf(content), choices: [] };
        lines.set(id, {
          id,
          isBot,
          ...shown,
          reactions: [],
          sealed: this.#sealed(id),
        });
      }
    }
    return [...lines.values()];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#user[Symbol.asyncDispose]();
    await this.#tester[Symbol.asyncDispose]();
  }

  #sealed(id: string): string | undefined {
    const event = this.#tester.homeserver.room(this.#user.room).messages.find((
      { event_id },
    ) => event_id === id);
    return event?.type === "m.room.encrypted" ? String(event.content.ciphertext).slice(0, 24) : undefined;
  }
}

function textOf(content: Content): Pick<Line, "text" | "html"> {
  return { text: String(content?.body ?? ""), html: content?.formatted_body };
}

function pollOf(content: Content): Pick<Line, "text" | "html" | "choices"> {
  const { question, answers } = content[POLL];
  const wordsOf = (part: Content): string => String(part["org.matrix.msc1767.text"] ?? part.body ?? "");
  const choices = answers.map((answer: Content) => ({
    id: String(answer.id),
    text: wordsOf(answer),
  }));
  return { text: wordsOf(question), html: undefined, choices };
}
