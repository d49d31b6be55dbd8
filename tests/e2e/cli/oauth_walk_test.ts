/** The way from an empty folder, where users log in by OAuth 2.0 alone. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { delay } from "@std/async/delay";
import { Client, type Clock, MemoryStore } from "@greenroom/matrix";
import { loginByDeviceCode, OAuthSession } from "@greenroom/matrix/oauth";
import type { RoomID } from "@greenroom/matrix/types";
import { type OAuthSynapse, oauthTest } from "../oauth/oauth_synapse.ts";
import { Desk, ping } from "./support/desk.ts";

const CTRL_C = "\x03";

/** The person is quick here, so five seconds between two requests are too many. */
const hurried: Clock = {
  now: () => Date.now(),
  delay: (ms, options) => delay(ms > 5_000 ? ms : ms / 100, options),
};

/** Somebody with Element on the same homeserver. */
async function person({ synapse, oauth }: OAuthSynapse, localpart: string): Promise<Client> {
  const [baseUrl, store] = [synapse.baseUrl, new MemoryStore()];
  await loginByDeviceCode({
    ...{ baseUrl, store, clientUri: "https://element.example/", clock: hurried, log: false },
    onUserCode: async ({ user_code }) => void await oauth.approve(user_code, localpart),
  });
  const session = await OAuthSession.resume({ store });
  assert(session !== undefined);
  const encryption = { sendTo: "cross-signed", accept: "cross-signed", onRecoveryKey() {} } as const;
  return new Client({ ...session.clientOptions, store, encryption, log: false });
}

oauthTest(
  "At a terminal, new, login and run lead to the first answer of a verified bot, by OAuth 2.0",
  async (scene) => {
    const { synapse, oauth } = scene;
    const localpart = `bot-${crypto.randomUUID().slice(0, 8)}`;
    const user = `@${localpart}:${synapse.serverName}` as const;
    await using desk = new Desk();
    await desk.makeBot(user);
    await using login = desk.greenroom(["login", `--homeserver=${synapse.baseUrl}`]);
    await login.expect("The code is ");
    await login.expect("\n");
    const [, code = ""] = /The code is (\S+)/.exec(login.shown) ?? [];
    await oauth.approve(code, localpart);
    assertEquals(await login.ended(), 0, login.shown);
    assertStringIncludes(login.shown, "Its device is signed");
    await using run = desk.greenroom(["run"]);
    await run.expect("The bot has started");
    await using alice = await person(scene, `alice-${crypto.randomUUID().slice(0, 8)}`);
    const rooms: RoomID[] = [];
    alice.on("JOIN", ({ room_id }) => void rooms.push(room_id));
    assertEquals(await ping(alice, user), "**pong**");
    assertEquals(await Promise.all([...new Set(rooms)].map((room) => alice.isRoomEncrypted(room))), [true]);
    await run.type(CTRL_C);
    assertEquals(await run.ended(), 130, run.shown);
  },
);
