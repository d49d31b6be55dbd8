/**
 * What the tests of other runtimes share: where these are,
 * and a homeserver on loopback with somebody to talk to.
 *
 * @module
 */

import { Client } from "@greenroom/matrix";
import { Homeserver } from "@greenroom/matrix/testing";
import type { RoomID, UserID, VerificationRequest } from "@greenroom/matrix/types";
import { EVERYBODY } from "../../support/everybody.ts";

/** The folder of the tools and of the project; undefined: they are not there. */
export const RUNTIMES: string | undefined = Deno.env.get("GREENROOM_RUNTIMES");

/**
 * Defines a test of what is made by `tools/runtimes.ts`;
 * without it, the test is skipped, or fails with `CI=true`.
 */
export function runtimeTest(
  name: string,
  test: (folder: string, t: Deno.TestContext) => Promise<void>,
): void {
  const ignore = RUNTIMES === undefined && Deno.env.get("CI") !== "true";
  Deno.test({
    name,
    ignore,
    fn: async (t) => {
      if (RUNTIMES === undefined) throw new Error("Cannot test: run deno task test:runtimes");
      await test(RUNTIMES, t);
    },
  });
}

const ENCRYPTION = {
  type: "m.room.encryption",
  state_key: "",
  content: { algorithm: "m.megolm.v1.aes-sha2" },
};

/** Alice, in a room with a bot, on a homeserver that listens. */
export class Stage implements AsyncDisposable {
  readonly homeserver: Homeserver = new Homeserver();
  readonly bot: { readonly userId: UserID; readonly accessToken: string };
  /** What the bot has said, as Alice reads it. */
  readonly said: string[] = [];
  readonly alice: Client;
  readonly #encrypted: boolean;
  readonly #joined = Promise.withResolvers<void>();
  #heard = Promise.withResolvers<void>();
  #following: Promise<void> | undefined;

  /**
   * @param encrypted Whether Alice encrypts.
   * @param password Of both, who then read and encrypt for signed devices alone. Default: they have none.
   */
  constructor(encrypted: boolean, password?: string) {
    this.#encrypted = encrypted;
    this.bot = this.homeserver.createUser("bot", { password });
    const { userId: mxid, accessToken } = this.homeserver.createUser("alice", { password });
    const { baseUrl, fetch } = this.homeserver;
    const signed = { sendTo: "cross-signed", accept: "cross-signed", password, onRecoveryKey() {} } as const;
    const encryption = encrypted && (password === undefined ? EVERYBODY : signed);
    this.alice = new Client({ baseUrl, fetch, mxid, accessToken, log: false, encryption });
    this.alice.on("m.room.member", ({ state_key, content }) => {
      if (state_key === this.bot.userId && content.membership === "join") this.#joined.resolve();
    });
    this.alice.on("m.room.message", ({ sender, content }) => {
      if (sender !== this.bot.userId) return;
      this.said.push(content.body);
      this.#heard.resolve();
    });
  }

  /** Makes a room, and waits until the bot has joined it. */
  async room(): Promise<RoomID> {
    this.#following ??= this.alice.start();
    await this.alice.ready;
    const initialState = this.#encrypted ? [ENCRYPTION] : [];
    const invitees = [this.bot.userId];
    const room = await this.alice.createRoom({ preset: "private_chat", invitees, initialState });
    await this.#joined.promise;
    return room;
  }

  /** Says something as Alice. */
  async say(room: RoomID, text: string): Promise<void> {
    await this.alice.sendText(room, text);
  }

  /** Waits until the bot has said so much. */
  async heard(count: number): Promise<readonly string[]> {
    while (this.said.length < count) {
      await this.#heard.promise;
      this.#heard = Promise.withResolvers();
    }
    return this.said;
  }

  /** The next request for a verification that Alice gets. */
  async verificationRequest(): Promise<VerificationRequest> {
    for await (const request of this.alice.crypto?.verificationRequests ?? []) return request;
    throw new Error("There was none");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.alice.close();
    await this.#following;
    await this.homeserver[Symbol.asyncDispose]();
  }
}
