/**
 * A client that walks one of the ways some times more often: `deno run walk.ts WAY EXTRA FOLDER`.
 * What ran for it is seen by coverage.
 *
 * Everything else happens as often, however large EXTRA is: so what ran more often did so for one
 * more message. A long walk ends the process at the end of the last way: what follows that end runs
 * once less often than there are more messages, and so is not on the way to it.
 *
 * @module
 */

import { Client } from "@greenroom/matrix";
import { Appservice, createRegistration } from "@greenroom/matrix/appservice";
import { Bot } from "@greenroom/matrix/bot";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import { TestClock } from "@greenroom/matrix/testing";
import type { RoomID } from "@greenroom/matrix/types";
import { systemClock } from "../../src/base/clock.ts";
import { startHomeserver } from "./homeserver.ts";
import { lateKeys } from "./late_keys.ts";
import { REPEATS, type Way } from "./way.ts";

const [name, extra, folder] = Deno.args;
const way = name as Way;
const TOTAL = REPEATS + 2;
const FOLLOWED = extra === "0" ? 2 : TOTAL;
const MEGOLM = { type: "m.room.encryption", state_key: "", content: { algorithm: "m.megolm.v1.aes-sha2" } };
const isEncrypted = way.includes("encrypted") || way === "late key";
const needsRooms = way === "late key" || way === "first encrypted send";
// Nobody here has an identity that signs devices.
const encryption = isEncrypted ? { sendTo: "all", accept: "all" } as const : undefined;
// It stands still, so that no timer makes a detour on a busy machine; a late key is waited for.
const clock = way === "late key" ? systemClock : new TestClock();
const { baseUrl, tokens } = await startHomeserver();

let ended = 0;
let end = Promise.withResolvers<void>();

/** Ends the way of one message, and with that of the last one the process. */
function atEnd(): void {
  if (++ended === TOTAL) Deno.exit(0);
  end.resolve();
}

/** Follows a message to the end of its way. */
async function follow(act: () => unknown): Promise<void> {
  end = Promise.withResolvers();
  await act();
  await end.promise;
}

/** What the client of a user is made with. */
async function optionsOf(user: string, request = fetch) {
  const store = await SqliteStore.open(`${folder}/${user}.db`);
  return {
    baseUrl,
    fetch: request,
    accessToken: tokens[user] ?? "",
    store,
    encryption,
    clock,
    log: false,
  } as const;
}

/** Alice, who has synced, in as many rooms as the way needs; Bob follows her there. */
async function aliceWith(bob: Client): Promise<{ alice: Client; rooms: RoomID[] }> {
  const alice = new Client(await optionsOf("alice"));
  await synced(alice);
  const rooms: RoomID[] = [];
  for (let made = 0; made < (needsRooms ? TOTAL : 1); made++) {
    const roomId = await alice.createRoom({
      invitees: ["@bob:localhost"],
      initialState: isEncrypted ? [MEGOLM] : [],
    });
    await bob.joinRoom(roomId);
    rooms.push(roomId);
  }
  await synced(alice);
  return { alice, rooms };
}

/** Syncs as a client does that keeps its device. */
async function synced(client: Client): Promise<void> {
  const running = client.start();
  await client.ready;
  await client.stop();
  await running;
}

/**
 * Alice's messages come one after the other, when Bob's first response has shown all rooms;
 * those that are not followed come when he has stopped.
 */
async function receive(
  bob: Client,
  { text, start, stop }: { text: string; start: () => unknown; stop: () => Promise<void> },
): Promise<void> {
  if (isEncrypted) await synced(bob); // so that she finds his device
  const { alice, rooms } = await aliceWith(bob);
  const running = start();
  await bob.ready;
  const send = (index: number) => alice.sendText(rooms[needsRooms ? index : 0] as RoomID, text);
  for (let index = 0; index < FOLLOWED; index++) await follow(() => send(index));
  await stop();
  await running;
  for (let index = FOLLOWED; index < TOTAL; index++) await send(index);
}

async function receiveMessages(): Promise<void> {
  const bob = new Client(await optionsOf("bob", way === "late key" ? lateKeys(fetch) : fetch));
  bob.on("m.room.message", atEnd);
  await receive(bob, { text: "hello", start: () => bob.start(), stop: () => bob.stop() });
}

async function receiveCommands(): Promise<void> {
  const watched: typeof fetch = async (input, init) => {
    if (new URL(input instanceof Request ? input.url : input).pathname.includes("/send/m.room.message/")) {
      atEnd();
    }
    return await fetch(input, init);
  };
  const bot = new Bot(await optionsOf("bob", watched));
  bot.command("ping", (c) => c.reply("pong"));
  await receive(bot.client, {
    text: "!ping",
    start: () => bot.start({ signals: false }),
    stop: () => bot.stop(),
  });
}

async function receiveTransactions(): Promise<void> {
  const registration = createRegistration({
    id: "ways",
    senderLocalpart: "bob",
    url: "http://localhost",
    serverName: "localhost",
  });
  const { baseUrl, fetch, store } = await optionsOf("bob");
  const appservice = new Appservice({
    registration,
    serverName: "localhost",
    baseUrl,
    fetch,
    store,
    log: false,
  });
  appservice.on("m.room.message", atEnd);
  const running = appservice.start({ ping: false });
  for (let index = 0; index < FOLLOWED; index++) {
    const event = {
      type: "m.room.message",
      event_id: `$${index}`,
      room_id: "!room:localhost",
      sender: "@alice:localhost",
      origin_server_ts: 1,
      content: { msgtype: "m.text", body: "hello" },
    };
    await follow(() =>
      appservice.fetch(
        new Request(`http://localhost/_matrix/app/v1/transactions/${index}`, {
          method: "PUT",
          headers: { authorization: `Bearer ${registration.hs_token}` },
          body: JSON.stringify({ events: [event] }),
        }),
      )
    );
  }
  await appservice.stop();
  await running;
}

async function send(): Promise<void> {
  const bob = new Client(await optionsOf("bob"));
  await synced(bob);
  const { alice, rooms } = await aliceWith(bob);
  for (let index = 0; index < FOLLOWED; index++) {
    await alice.sendText(rooms[needsRooms ? index : 0] as RoomID, "hello");
  }
}

const walks: Record<Way, () => Promise<void>> = {
  "message": receiveMessages,
  "command": receiveCommands,
  "transaction": receiveTransactions,
  "encrypted message": receiveMessages,
  "late key": receiveMessages,
  "send": send,
  "encrypted send": send,
  "first encrypted send": send,
};

await walks[way]();
Deno.exit(0);
