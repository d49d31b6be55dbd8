/**
 * Somebody with an example bot in an encrypted room.
 *
 * @module
 */

import { assert } from "@std/assert";
import type { EventID, RoomID } from "@greenroom/matrix/types";
import { ExampleProcess } from "./example_process.ts";
import { Ours } from "./ours.ts";
import { newUser, type SynapseServer, type TestUser } from "./synapse.ts";

/** Somebody with a bot in an encrypted room, and what the bot says there. */
export class Guest implements AsyncDisposable {
  readonly alice: Ours;
  readonly bot: TestUser;
  readonly process: ExampleProcess;
  readonly room: RoomID;
  readonly #stack: AsyncDisposableStack;
  /** How much of what Alice has seen was looked at. */
  #read = 0;

  private constructor(
    { alice, bot, process, room }: Pick<Guest, "alice" | "bot" | "process" | "room">,
    stack: AsyncDisposableStack,
  ) {
    this.alice = alice;
    this.bot = bot;
    this.process = process;
    this.room = room;
    this.#stack = stack;
  }

  /** Begins a bot, and invites it. */
  static async of(
    server: SynapseServer,
    name: string,
    env: (guest: Pick<Guest, "alice" | "bot">) => Promise<Record<string, string>> | Record<string, string> =
      () => ({}),
  ): Promise<Guest> {
    await using stack = new AsyncDisposableStack();
    const [user, bot] = await Promise.all([
      newUser(server, "alice", { unlimited: "people" }),
      newUser(server, name),
    ]);
    // Bots hear who has an identity.
    const encryption = { onRecoveryKey() {}, password: user.password, backup: false };
    const alice = stack.use(await Ours.start(server, "alice", { user, encryption }));
    const account = { MATRIX_URL: server.baseUrl, MATRIX_TOKEN: bot.accessToken };
    const process = stack.use(await ExampleProcess.start(name, { ...account, ...await env({ alice, bot }) }));
    const room = await alice.createRoom({ invite: [bot.userId] });
    await alice.member(room, bot.userId);
    return new Guest({ alice, bot, process, room }, stack.move());
  }

  /** Says something. */
  async say(text: string): Promise<EventID> {
    return await this.alice.sendText(this.room, text) as EventID;
  }

  /** What the bot has said, without edits. */
  get texts(): string[] {
    return this.alice.seen.filter((each) => each.event === "message" && each.sender === this.bot.userId)
      .map((each) => each.event === "message" ? each.body ?? "" : "");
  }

  /** Waits for the bot's reaction to an event. */
  async reaction(eventId: EventID): Promise<void> {
    await this.alice.message(({ type, sender, content }) =>
      type === "m.reaction" && sender === this.bot.userId &&
      (content["m.relates_to"] as { event_id?: string } | undefined)?.event_id === eventId
    );
  }

  /** Waits for what the bot says next, by a message or an edit; what it says otherwise is skipped. */
  async hears(text: string | RegExp): Promise<string> {
    const said = (message: { body: string | null; content: Record<string, unknown> }) =>
      String((message.content["m.new_content"] as { body?: string })?.body ?? message.body);
    const message = await this.alice.message((each) =>
      each.sender === this.bot.userId && each.roomId === this.room &&
      this.alice.seen.indexOf(each) >= this.#read &&
      (typeof text === "string" ? said(each) === text : text.test(said(each)))
    );
    assert(message.encrypted, `${text} was encrypted`);
    this.#read = this.alice.seen.indexOf(message) + 1;
    return said(message);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}
