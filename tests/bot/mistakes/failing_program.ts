/**
 * A bot with a mistake, which says where the log finds it.
 *
 * @module
 */

import { Bot } from "@greenroom/matrix/bot";
import { Homeserver } from "@greenroom/matrix/testing";

if (import.meta.main) {
  const found = Promise.withResolvers<string>();
  const nothing = (): void => {};
  const error = (_: string, data: Record<string, unknown> = {}): void => {
    found.resolve(`${String(data.error).split(": ").at(-1)} at ${data.at}`);
  };
  const homeserver = new Homeserver();
  const { baseUrl, fetch } = homeserver;
  const log = { debug: nothing, info: nothing, warn: nothing, error };
  const bot = new Bot({ baseUrl, fetch, log, accessToken: homeserver.createUser("bot").accessToken });
  bot.on("member:join", (c) => c.reactTo("$event", ""));
  bot.start({ signals: false });
  await bot.client.ready;
  const { accessToken } = homeserver.createUser("alice");
  const id = await bot.client.createRoom({ preset: "public_chat" });
  await fetch(`${baseUrl}/_matrix/client/v3/join/${id}`, {
    method: "POST",
    headers: { authorization: `Bearer ${accessToken}` },
    body: "{}",
  });
  console.log(await found.promise);
  await bot.close();
}
