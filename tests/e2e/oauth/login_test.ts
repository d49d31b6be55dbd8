/**
 * Programs that log in by OAuth 2.0 with the library, on Synapse.
 *
 * @module
 */

import { assert, assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { delay } from "@std/async/delay";
import { Client, type Clock, MemoryStore, type Store, UnknownTokenError } from "@greenroom/matrix";
import { Bot } from "@greenroom/matrix/bot";
import { OAuthError } from "@greenroom/matrix/errors";
import { loginByAuthorizationCode, loginByDeviceCode, OAuthSession } from "@greenroom/matrix/oauth";
import { EVERYBODY } from "../../support/everybody.ts";
import { within } from "../support/deadline.ts";
import { type OAuthSynapse, oauthTest } from "./oauth_synapse.ts";

/** How long access tokens live where a test is about their end, in seconds. */
const SHORT = 6;
/** How many of them end while a bot answers. */
const TOKENS = 2;
const MEGOLM = { type: "m.room.encryption", state_key: "", content: { algorithm: "m.megolm.v1.aes-sha2" } };

/** The person is quick here, so five seconds between two requests are too many; time-outs are longer. */
const hurried: Clock = {
  now: () => Date.now(),
  delay: (ms, options) => delay(ms > 5_000 ? ms : ms / 100, options),
};

const clientUri = "https://bot.example/";
const newName = () => `user-${crypto.randomUUID().slice(0, 8)}`;

/** Logs a new user in by a device code. */
async function logIn({ synapse, oauth }: OAuthSynapse, store: Store): Promise<OAuthSession> {
  const localpart = newName();
  await loginByDeviceCode({
    baseUrl: synapse.baseUrl,
    store,
    clientUri,
    clock: hurried,
    log: false,
    onUserCode: async ({ user_code }) => void await oauth.approve(user_code, localpart),
  });
  return await resumed(store, `@${localpart}:${synapse.serverName}`);
}

/** The session of the next process. */
async function resumed(store: Store, mxid: string): Promise<OAuthSession> {
  const session = await OAuthSession.resume({ store });
  assertEquals(session?.mxid, mxid);
  assert(session !== undefined);
  return session;
}

/** Has access tokens end soon that are given from now on. */
function shortTokens({ oauth }: OAuthSynapse): Disposable {
  const { accessTokenLifetime } = oauth;
  oauth.accessTokenLifetime = SHORT;
  return { [Symbol.dispose]: () => void (oauth.accessTokenLifetime = accessTokenLifetime) };
}

oauthTest(
  "an encrypted bot answers while its tokens end again and again, and after a restart",
  async (scene) => {
    using _ = shortTokens(scene);
    const stores = { alice: new MemoryStore(), bot: new MemoryStore() };
    const [person, account] = [await logIn(scene, stores.alice), await logIn(scene, stores.bot)];
    const options = { encryption: EVERYBODY, log: false } as const;
    await using alice = new Client({ ...person.clientOptions, ...options, store: stores.alice });
    let heard = Promise.withResolvers<unknown>();
    const joined = Promise.withResolvers<void>();
    alice.on("m.room.message", ({ sender, content }) => {
      if (sender === account.mxid) heard.resolve(content.body);
    });
    alice.on("JOIN", ({ sender }) => {
      if (sender === account.mxid) joined.resolve();
    });
    const syncing = alice.start();
    const begin = (session: OAuthSession): Bot => {
      const bot = new Bot({ ...session.clientOptions, ...options, store: stores.bot, rateLimit: false });
      bot.command("ping <text...>", (c) => c.reply(c.args.text));
      return bot;
    };
    let bot = begin(account);
    let running = bot.start({ signals: false });
    const room = await alice.createRoom({ invitees: [account.mxid], initialState: [MEGOLM] });
    await within(joined.promise, "the bot joins");
    const tokens = new Set<string>();
    for (let count = 0; tokens.size <= TOKENS; count++) {
      heard = Promise.withResolvers();
      await alice.sendText(room, `!ping ${count}`);
      assertEquals(await within(heard.promise, "the bot answers"), `${count}`);
      tokens.add((await resumed(stores.bot, account.mxid)).clientOptions.accessToken);
      await delay(SHORT * 200);
    }
    await bot.close();
    await running;
    bot = begin(await resumed(stores.bot, account.mxid));
    running = bot.start({ signals: false });
    heard = Promise.withResolvers();
    await alice.sendText(room, "!ping again");
    assertEquals(await within(heard.promise, "the bot answers after the restart"), "again");
    await bot.close();
    await running;
    await alice.close();
    await syncing;
  },
);

oauthTest(
  "a login by authorization code comes back to this machine, and a refusal too",
  async ({ synapse, oauth }) => {
    const store = new MemoryStore();
    const localpart = newName();
    const login = (answer: (url: string) => Promise<string>) =>
      loginByAuthorizationCode({
        baseUrl: synapse.baseUrl,
        store,
        clientUri,
        onAuthorizationUrl: async (url) => await (await fetch(await answer(url))).body?.cancel(),
      });
    const error = await assertRejects(() => login((url) => oauth.deny(url)), OAuthError);
    assertEquals(error.error, "access_denied");
    const session = await login((url) => oauth.approve(url, localpart));
    await using client = new Client({ ...session.clientOptions, store });
    const { user_id, device_id } = await client.whoami();
    assertEquals([user_id, device_id], [`@${localpart}:${synapse.serverName}`, session.deviceId]);
  },
);

oauthTest("a refresh whose answer is lost loses no session", async (scene) => {
  const store = new MemoryStore();
  const { mxid, clientOptions } = await logIn(scene, store);
  let lost = 0;
  const session = await OAuthSession.resume({
    store,
    clock: hurried,
    async fetch(input, init) {
      const response = await fetch(input, init);
      if (!String(input).endsWith("/oauth2/token") || lost++ > 0) return response;
      await response.body?.cancel();
      throw new TypeError("connection closed");
    },
  });
  await session?.renew(clientOptions.accessToken).catch(() => {});
  const tokens = await session?.renew(clientOptions.accessToken);
  assertNotEquals(tokens?.accessToken, clientOptions.accessToken);
  await using client = new Client({ ...(await resumed(store, mxid)).clientOptions, store });
  assertEquals((await client.whoami()).user_id, mxid);
  assertEquals(lost, 2);
});

oauthTest("logout() revokes the tokens, and the device is gone", async (scene) => {
  const store = new MemoryStore();
  const session = await logIn(scene, store);
  const { accessToken, baseUrl } = session.clientOptions;
  await using client = new Client({ ...session.clientOptions, store });
  await client.logout();
  assertEquals(await OAuthSession.resume({ store }), undefined);
  await using ghost = new Client({ baseUrl, accessToken, log: false });
  await assertRejects(() => ghost.whoami(), UnknownTokenError);
});

oauthTest(
  "the account management is opened at the authorization server, for what it supports",
  async (scene) => {
    const session = await logIn(scene, new MemoryStore());
    const page = `${scene.oauth.issuer}account/`;
    assertEquals(await session.getAccountManagementUrl(), page);
    const profile = { action: "org.matrix.profile" } as const;
    assertEquals(await session.getAccountManagementUrl(profile), `${page}?action=org.matrix.profile`);
    const { deviceId } = session;
    assertEquals(
      await session.getAccountManagementUrl({ action: "org.matrix.device_view", deviceId }),
      undefined,
    );
  },
);
