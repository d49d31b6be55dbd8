/**
 * What the playground runs: a homeserver in the browser, and on it a user and the bot that is typed into
 * the page.
 *
 * @module
 */

import * as matrix from "@greenroom/matrix";
import { BotTester } from "@greenroom/matrix/testing";
import type { JsonObject, RoomID, UserID } from "@greenroom/matrix/types";
import { testedBot } from "./evaluate.ts";
import { Failures, lineOf, placed } from "./failures.ts";
import { type Line, linesOf, POLL, type ReadEvent } from "./lines.ts";

export { Windows } from "./windows.ts";

/** The user who talks to the bot, in a room of the two. */
interface User extends AsyncDisposable {
  readonly id: UserID;
  readonly room: RoomID;
  readonly events: readonly ReadEvent[];
  send(type: string, content: JsonObject): Promise<unknown>;
}

async function plainUser(tester: BotTester): Promise<User> {
  const room = await tester.room("you");
  return {
    id: tester.userId("you"),
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
    id: userId,
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
  /** The line of a text at which an error arose. */
  static readonly lineOf: typeof lineOf = lineOf;
  readonly #tester: BotTester;
  readonly #user: User;
  readonly #text: { now: string };
  /** What went wrong in its handlers. */
  readonly failures: Failures;

  private constructor(tester: BotTester, user: User, text: { now: string; failures: Failures }) {
    this.failures = text.failures;
    this.#tester = tester;
    this.#user = user;
    this.#text = text;
  }

  /** Makes a homeserver, a room with a user and the bot, and starts it. */
  static async open(
    code: string,
    options: { encrypted: boolean },
  ): Promise<Playground> {
    const text = { now: code, failures: new Failures() };
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

  /** What the bot has logged, with the lines of its text. */
  get logged(): readonly string[] {
    return this.#tester.logged.map(placed);
  }

  /** What the chat shows. */
  get lines(): Line[] {
    const { id: user, room, events } = this.#user;
    return linesOf(events, { user, room, homeserver: this.#tester.homeserver });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#user[Symbol.asyncDispose]();
    await this.#tester[Symbol.asyncDispose]();
  }
}
