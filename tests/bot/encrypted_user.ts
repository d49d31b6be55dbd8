/**
 * A user who talks with a bot in encrypted rooms, and what others write in their name in clear.
 *
 * @module
 */

import { Client } from "@greenroom/matrix";
import { type BotTester, ExpectationError } from "@greenroom/matrix/testing";
import type { EventID, JsonObject, RoomID, UserID } from "@greenroom/matrix/types";
import { EVERYBODY } from "../support/everybody.ts";

const ENCRYPTION = {
  type: "m.room.encryption",
  state_key: "",
  content: { algorithm: "m.megolm.v1.aes-sha2" },
};

/** A user, who is written for in clear too, as their homeserver and who has their token can. */
export interface EncryptedUser extends AsyncDisposable {
  readonly userId: UserID;
  /** Makes a room with the bot in it. Default: an encrypted one. */
  room(options?: { readonly encrypted?: boolean }): Promise<RoomID>;
  /** Has a room encrypted from now on. */
  encrypt(room: RoomID): Promise<EventID>;
  /** Says something as the user's client does: encrypted, where the room is. */
  say(room: RoomID, text: string): Promise<EventID>;
  /** Sends any event as the user's client does; reactions are encrypted too. */
  send(room: RoomID, type: string, content: JsonObject): Promise<EventID>;
  /** Sends an event that is encrypted without its relation, which stands beside it in clear. */
  sendAimed(room: RoomID, type: string, content: JsonObject): Promise<EventID>;
  /** Sends an event in clear in the user's name, whatever the room. */
  forge(room: RoomID, type: string, content: JsonObject): Promise<EventID>;
  /** What the bot has said, as the user reads it. */
  readonly heard: readonly { readonly text: string; readonly eventId: EventID }[];
  /** Waits for the next thing that the bot says. */
  expect(text: string | RegExp): Promise<EventID>;
  /** Sees that the bot says nothing more. */
  expectNothing(): Promise<void>;
}

/** Has a user begin. */
export async function encryptedUser(tester: BotTester, name: string): Promise<EncryptedUser> {
  await tester.start();
  const { homeserver: { baseUrl, fetch }, clock, mxid } = tester;
  const { accessToken: token, userId } = tester.homeserver.createUser(name);
  const client = new Client({
    ...{ baseUrl, fetch, accessToken: token, clock, log: false, mxid: userId },
    encryption: EVERYBODY,
    encryptionBlacklist: [],
  });
  const heard: { text: string; eventId: EventID }[] = [];
  client.on("m.room.message", ({ sender, content, event_id: eventId }) => {
    if (sender === mxid) heard.push({ text: content.body, eventId });
  });
  const running = client.start();
  await settled(tester, client.ready);
  let seen = 0;
  const forge = (room: RoomID, type: string, content: JsonObject): Promise<EventID> =>
    settled(tester, client.sendMessageEvent(room, type, content, { disableEncryption: true }));
  return {
    userId,
    heard,
    forge,
    async room({ encrypted = true } = {}) {
      const initialState = encrypted ? [ENCRYPTION] : [];
      const making = client.createRoom({ preset: "private_chat", invitees: [mxid], initialState });
      const room = await settled(tester, making);
      await tester.until(
        () => tester.homeserver.room(room).membership(mxid) === "join",
        "The bot has not joined",
      );
      await tester.settle();
      return room;
    },
    encrypt: (room) => settled(tester, client.sendStateEvent(room, ENCRYPTION.type, ENCRYPTION.content)),
    say: (room, text) => settled(tester, client.sendText(room, text)),
    send: (room, type, content) => settled(tester, client.sendMessageEvent(room, type, content)),
    async sendAimed(room, type, { "m.relates_to": relation, ...content }) {
      const encrypted = await settled(tester, client.encrypt(room, type, content));
      return await forge(room, "m.room.encrypted", { ...encrypted, "m.relates_to": relation });
    },
    async expect(text) {
      const fits = () => {
        const said = heard[seen]?.text;
        return said !== undefined && (typeof text === "string" ? said === text : text.test(said));
      };
      const otherwise = () => `The bot was to say ${text}, and says ${Deno.inspect(heard[seen]?.text)}`;
      await tester.until(fits, "").catch((error: Error) => {
        throw new ExpectationError(`${otherwise()}${error.message}`);
      });
      return heard[seen++]?.eventId as EventID;
    },
    async expectNothing() {
      for (let round = 0; round < 20; round++) await tester.settle();
      if (heard.length > seen) {
        throw new ExpectationError(`The bot was to say nothing, and says ${heard[seen]?.text}`);
      }
    },
    async [Symbol.asyncDispose]() {
      await client.close();
      await running;
    },
  };
}

/** Lets time stand still while something is done. */
async function settled<Result>(tester: BotTester, promise: Promise<Result>): Promise<Result> {
  let isOver = false;
  const over = () => void (isOver = true);
  promise.then(over, over);
  await tester.until(() => isOver, "It was not done");
  return await promise;
}
