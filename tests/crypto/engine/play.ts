/** What may happen between two engines, and what must hold whatever does. */

import { assert, assertEquals } from "@std/assert";
import type { CryptoInput } from "../../../src/crypto/engine/engine.ts";
import type { MessageEvent, ShareReport } from "@greenroom/matrix/types";
import { aliceAndBob, type Bot } from "./bot.ts";
import { type EngineServer, ROOM } from "./homeserver.ts";

/** Who it happens to. */
export type Name = "alice" | "bob";

/** What may happen. */
export type Happening =
  | {
    readonly kind: "send" | "sync" | "syncLate" | "restart" | "discard" | "unsent" | "turnAround";
    readonly who: Name;
  }
  | { readonly kind: "lose" | "repeat"; readonly who: Name; readonly index: number }
  | { readonly kind: "syncTwice"; readonly who: Name; readonly restart: boolean }
  | {
    readonly kind: "crash";
    readonly who: Name;
    readonly when: "before" | "after";
    /** How many commits go well before that. */
    readonly commits: number;
    readonly during: "send" | "sync";
  }
  | { readonly kind: "member"; readonly membership: "join" | "leave" };

/** An event that was sent. */
interface Sent {
  readonly event: MessageEvent;
  readonly from: Name;
  readonly body: string;
  /** The devices that were given the key, as far as the sender says. */
  readonly entitled: ReadonlySet<string>;
}

/** What is known of a session from outside. */
interface Session {
  readonly from: Name;
  /** Messages to devices that are lost from this turn on may have had its key. */
  readonly since: number;
  readonly entitled: Set<string>;
  /** Whether a user with the key has left, and its sender has received that. */
  over: boolean;
}

/** Two engines, and a book about them. */
export class Play {
  readonly server: EngineServer;
  readonly bots: Readonly<Record<Name, Bot>>;
  readonly #bodies = new Map<string, { readonly body: string; readonly from: Name }>();
  readonly #sent: Sent[] = [];
  /** Events that may have been encrypted before a crash. */
  readonly #pending: { readonly body: string; readonly from: Name }[] = [];
  readonly #sessions = new Map<string, Session>();
  readonly #places = new Map<string, string>();
  readonly #repeats = new Map<string, number>();
  readonly #losses: { readonly from: Name; readonly to: Name; readonly turn: number }[] = [];
  readonly #crashes: Record<Name, number> = { alice: 0, bob: 0 };
  /** When each was last said to have a room ready. */
  readonly #told = new Map<Name, number>();

  private constructor({ server, alice, bob }: { server: EngineServer; alice: Bot; bob: Bot }) {
    this.server = server;
    this.bots = { alice, bob };
    server.onEvent = (event) => this.#note(event);
    for (const name of ["alice", "bob"] as const) {
      this.bots[name].onShare = (share) => this.#shared(name, share);
    }
  }

  /** Sets everything up. */
  static async begin(): Promise<Play> {
    return new Play(await aliceAndBob());
  }

  /** Lets something happen. */
  async happen(happening: Happening): Promise<void> {
    this.server.turn++;
    await this.server.clock.tick(1_000);
    const bot = "who" in happening ? this.bots[happening.who] : this.bots.bob;
    const { toDevice } = this.server.mailbox(bot);
    switch (happening.kind) {
      case "send":
        if (this.#isIn(bot)) await this.#send(bot);
        break;
      case "unsent": { // the process ends before the event has left
        if (!this.#isIn(bot)) break;
        const { content } = await this.#encrypt(bot);
        await bot.restart();
        assert(
          this.#sent.some(({ event }) => event.content.ciphertext === content.ciphertext),
          "it never left",
        );
        break;
      }
      case "sync":
        await this.#take(bot, bot.collect());
        break;
      case "syncLate": { // the keys come after the events
        const input = bot.collect();
        await this.#take(bot, { ...input, toDevice: [] });
        toDevice.push(...input.toDevice);
        break;
      }
      case "syncTwice": {
        const input = bot.collect();
        await this.#take(bot, input);
        if (happening.restart) await bot.restart();
        this.#repeated(input);
        await this.#take(bot, input);
        break;
      }
      case "restart":
        await bot.restart();
        break;
      case "discard":
        await bot.engine.discardGroupSession(ROOM);
        break;
      case "turnAround":
        toDevice.reverse();
        break;
      case "lose": {
        const [lost] = toDevice.splice(happening.index, 1);
        const origin = lost && this.server.origins.get(lost);
        if (origin === undefined) break;
        this.#losses.push({ from: this.#name(origin.from), to: this.#name(bot), turn: origin.turn });
        break;
      }
      case "repeat": {
        const event = toDevice[happening.index];
        if (event !== undefined) toDevice.push(event);
        break;
      }
      case "crash":
        await this.#crash(bot, happening);
        break;
      case "member":
        if (this.#isIn(bot) !== (happening.membership === "join")) {
          this.server.member(bot.userId, happening.membership);
        }
    }
  }

  /** Brings everything to its end, and looks whether all is as it must be. */
  async end(): Promise<void> {
    const { alice, bob } = this.bots;
    if (!this.#isIn(bob)) this.server.member(bob.userId, "join");
    for (let round = 0; round < 3; round++) {
      for (const bot of [alice, bob]) await this.#take(bot, bot.collect());
    }
    for (const sent of this.#sent) this.#check(sent);
    // Whatever was lost before, a new session reaches everybody.
    for (const [sender, reader] of [[alice, bob], [bob, alice]] as const) {
      await sender.engine.discardGroupSession(ROOM);
      const event = await this.#send(sender);
      await this.#take(reader, reader.collect());
      assertEquals(reader.outcome(event), `text: ${this.#body(event)}`);
    }
  }

  #check({ event, from, body, entitled }: Sent): void {
    const session = this.#sessions.get(String(event.content.session_id));
    assert(session !== undefined, "an unknown session");
    for (const name of ["alice", "bob"] as const) {
      const bot = this.bots[name];
      const texts = (bot.outcomes.get(event.event_id) ?? []).filter((outcome) => outcome.startsWith("text"));
      assertEquals(new Set(texts).difference(new Set([`text: ${body}`])), new Set());
      if (name !== from && !entitled.has(bot.deviceId)) {
        assertEquals(texts, [], `${name} was not to read ${body}`);
        continue;
      }
      const lost = this.#losses.some((loss) =>
        loss.from === from && loss.to === name && loss.turn >= session.since
      );
      if (!lost || name === from) assertEquals(bot.outcome(event), `text: ${body}`, `${name} reads ${body}`);
      // What was recovered comes once more if the process ends before it says that it was handled.
      const repeats = (this.#repeats.get(event.event_id) ?? 0) + this.#crashes[name];
      assert(texts.length <= 1 + repeats, `${name} has read ${body} too often`);
    }
  }

  async #send(bot: Bot): Promise<MessageEvent> {
    const { content, txnId } = await this.#encrypt(bot);
    const event = this.server.publish(bot, content, txnId);
    await bot.engine.roomEventSent({ roomId: ROOM, txnId, hasArrived: true });
    return event;
  }

  async #encrypt(bot: Bot) {
    const body = `text ${this.#bodies.size}`;
    const encrypted = await bot.encrypt(body);
    this.#encrypted(bot, body, encrypted.content);
    return encrypted;
  }

  #encrypted(bot: Bot, body: string, content: MessageEvent["content"]): void {
    this.#bodies.set(String(content.ciphertext), { body, from: this.#name(bot) });
    const session = this.#sessions.get(String(content.session_id));
    assert(session?.over === false, "a session was used whose key a former member has");
  }

  /** Who leaves must not read on from when the other knows. */
  async #take(bot: Bot, input: CryptoInput): Promise<void> {
    await bot.take(input);
    const gone = input.state.some(({ events }) =>
      events.some(({ content }) => content.membership === "leave")
    );
    if (!gone) return;
    const left = [this.bots.alice, this.bots.bob].filter((other) => other !== bot);
    for (const session of this.#sessions.values()) {
      if (session.from === this.#name(bot) && left.some(({ deviceId }) => session.entitled.has(deviceId))) {
        session.over = true;
      }
    }
  }

  async #crash(bot: Bot, { when, commits, during }: Extract<Happening, { kind: "crash" }>): Promise<void> {
    if (during === "send" && !this.#isIn(bot)) return;
    const input = bot.collect();
    if (during === "send") { // nothing that waits is lost by that
      const { toDevice, state, encrypted, changed } = this.server.mailbox(bot);
      toDevice.push(...input.toDevice);
      state.push(...input.state.flatMap(({ events }) => events));
      encrypted.push(...input.encrypted);
      for (const userId of input.deviceLists.changed) changed.add(userId);
    }
    bot.failing = { when, commits };
    this.#crashes[this.#name(bot)]++;
    const body = `text ${this.#bodies.size}`;
    let failed = false;
    try {
      if (during === "sync") await bot.take(input);
      else this.#encrypted(bot, body, (await bot.encrypt(body)).content);
    } catch (error) {
      assert(error instanceof TypeError && error.message === "The disk is gone", String(error));
      failed = true;
    }
    if (during === "send" && failed) this.#pending.push({ body, from: this.#name(bot) });
    await bot.restart();
    if (during === "sync") {
      this.#repeated(input);
      await this.#take(bot, input);
    }
  }

  #note(event: MessageEvent): void {
    const { session_id: sessionId, ciphertext } = event.content;
    const text = String(ciphertext);
    const place = `${sessionId} ${indexOf(text)}`;
    assertEquals(this.#places.get(place) ?? text, text, "an index was used twice");
    this.#places.set(place, text);
    const known = this.#bodies.get(text) ?? this.#pending.at(-1);
    assert(known !== undefined, "an event that was not sent");
    this.#bodies.set(text, known);
    const entitled = new Set(this.#sessions.get(String(sessionId))?.entitled);
    this.#sent.push({ event, ...known, entitled });
  }

  #shared(from: Name, { sessionId, shared }: ShareReport): void {
    const session = this.#sessions.getOrInsertComputed(sessionId, () => ({
      from,
      since: this.#told.get(from) ?? 0, // it may have begun any time after that
      entitled: new Set<string>(),
      over: false,
    }));
    for (const { deviceId } of shared) session.entitled.add(deviceId);
    this.#told.set(from, this.server.turn);
  }

  #repeated({ encrypted }: CryptoInput): void {
    for (const { event_id: id } of encrypted) this.#repeats.set(id, (this.#repeats.get(id) ?? 0) + 1);
  }

  #body(event: MessageEvent): string | undefined {
    return this.#bodies.get(String(event.content.ciphertext))?.body;
  }

  #isIn({ userId }: Bot): boolean {
    return this.server.members.has(userId);
  }

  #name({ deviceId }: Pick<Bot, "deviceId">): Name {
    return deviceId === this.bots.alice.deviceId ? "alice" : "bob";
  }
}

/** The index of a Megolm message: a number of variable length after the version and its tag. */
export function indexOf(ciphertext: string): number {
  const bytes = Uint8Array.fromBase64(ciphertext);
  let index = 0;
  for (let place = 2, shift = 0;; place++, shift += 7) {
    const byte = bytes[place] ?? 0;
    index += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return index;
  }
}
