/**
 * Two windows of the page in one encrypted room: in each a person, whose client the text makes.
 *
 * @module
 */

import * as matrix from "@greenroom/matrix";
import { Homeserver } from "@greenroom/matrix/testing";
import type { RoomID, UserID, VerificationEmoji, VerificationRequest } from "@greenroom/matrix/types";
import { evaluate } from "./evaluate.ts";
import { Failures } from "./failures.ts";
import { type Line, linesOf, type ReadEvent } from "./lines.ts";

const NAMES = ["alice", "bob"];

/** What a client is made with, to be the person of a window. */
interface Account {
  readonly baseUrl: string;
  readonly fetch: typeof fetch;
  readonly accessToken: string;
  readonly mxid: UserID;
  readonly log: matrix.Logger;
}

/** A window: the text says what happens when its person does something, and shows what the person sees. */
export class Window {
  readonly name: string;
  readonly account: Account;
  /** The room of both persons. */
  readonly room: RoomID;
  /** The other person. */
  readonly other: UserID;
  /** What to do with a message that is written into the window. */
  onSend: (text: string) => unknown = () => {};
  /** What to do when the person wants to be sure of the other. */
  onVerify: () => unknown = () => {};
  /** The emoji that the person is to compare; `undefined`: nothing is asked. */
  emoji: readonly VerificationEmoji[] | undefined;
  readonly #homeserver: Homeserver;
  readonly #shown: (ReadEvent | string)[] = [];
  #answer: ((isSame: boolean) => void) | undefined;

  constructor(homeserver: Homeserver, account: Account, place: { room: RoomID; other: UserID }) {
    this.name = account.mxid.slice(1, account.mxid.indexOf(":"));
    this.#homeserver = homeserver;
    this.account = account;
    this.room = place.room;
    this.other = place.other;
  }

  /** Shows a message, or a note that only this person sees. */
  show(shown: ReadEvent | string): void {
    this.#shown.push(shown);
  }

  /** Asks the person whether both windows show the same emoji; `false`: also if it was called off. */
  async ask(request: VerificationRequest): Promise<boolean> {
    const answer = Promise.withResolvers<boolean>();
    this.emoji = request.comparison?.emoji;
    this.#answer = answer.resolve;
    const calledOff = false;
    request.done.catch(() => answer.resolve(calledOff));
    const isSame = await answer.promise;
    this.emoji = undefined;
    return isSame;
  }

  /** What the person answers to {@linkcode ask}. */
  answer(isSame: boolean): void {
    this.#answer?.(isSame);
  }

  /** What the window shows. */
  get lines(): Line[] {
    const { room, account: { mxid: user } } = this;
    const events = this.#shown.filter((each) => typeof each !== "string")
      .filter(({ content }) => content.msgtype !== "m.key.verification.request");
    const lines = new Map(
      linesOf(events, { user, room, homeserver: this.#homeserver }).map((line) => [line.id, line]),
    );
    return this.#shown.flatMap((shown, index) => {
      const line = typeof shown === "string" ? noteOf(shown, index) : lines.get(shown.event_id);
      return line ?? [];
    });
  }
}

function noteOf(text: string, index: number): Line {
  const nothing = { html: undefined, reactions: [], choices: [], sealed: undefined };
  return { id: `note ${index}`, isOwn: false, who: "", text, ...nothing };
}

/** The windows of one evaluation of the text. */
export class Windows implements AsyncDisposable {
  readonly all: readonly Window[];
  /** What went wrong in their handlers. */
  readonly failures: Failures;
  readonly #clients: readonly matrix.Client[];

  private constructor(all: readonly Window[], failures: Failures, clients: readonly matrix.Client[]) {
    this.all = all;
    this.failures = failures;
    this.#clients = clients;
  }

  /** Makes a homeserver and an encrypted room of two, and evaluates the text. */
  static async open(text: string): Promise<Windows> {
    const failures = new Failures();
    const all = await windowsOn(new Homeserver(), failures.noting());
    const clients: matrix.Client[] = [];
    class Client extends matrix.Client {
      constructor(options: matrix.ClientOptions) {
        super(options);
        clients.push(this);
      }
    }
    const opened = new Windows(all, failures, clients);
    try {
      await evaluate(text, { "@greenroom/matrix": { ...matrix, Client }, playground: { windows: all } });
    } catch (error) {
      await opened[Symbol.asyncDispose]();
      throw error;
    }
    return opened;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) await client.close();
  }
}

/** A window for each person, in one room. */
async function windowsOn(homeserver: Homeserver, log: matrix.Logger): Promise<Window[]> {
  const { baseUrl, fetch } = homeserver;
  const accounts = NAMES.map((name): Account => {
    const { accessToken, userId: mxid } = homeserver.createUser(name);
    return { baseUrl, fetch, accessToken, mxid, log };
  });
  const [first, second] = accounts as [Account, Account];
  await using host = new matrix.Client(first);
  await using guest = new matrix.Client(second);
  const algorithm = "m.megolm.v1.aes-sha2";
  const room = await host.createRoom({
    isDirect: true,
    invitees: [second.mxid],
    initialState: [{ type: "m.room.encryption", state_key: "", content: { algorithm } }],
  });
  await guest.joinRoom(room);
  return [
    new Window(homeserver, first, { room, other: second.mxid }),
    new Window(homeserver, second, { room, other: first.mxid }),
  ];
}
