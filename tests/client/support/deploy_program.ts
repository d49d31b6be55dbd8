/**
 * `examples/deploy/main.ts` where crons are fired by hand, with a homeserver in the same process.
 * Prints, as JSON, what has happened.
 *
 * @module
 */

import { Client } from "@greenroom/matrix";
import { Homeserver } from "@greenroom/matrix/testing";

interface Cron {
  readonly name: string;
  readonly schedule: string;
  readonly run: () => Promise<void>;
}

const crons: Cron[] = [];
let answer: (request: Request) => Promise<Response> = () =>
  Promise.resolve(new Response(null, { status: 502 }));
Object.defineProperties(Deno, {
  cron: {
    value: (name: string, schedule: string, run: Cron["run"]) => {
      crons.push({ name, schedule, run });
      return Promise.resolve();
    },
  },
  serve: { value: (given: typeof answer) => answer = given },
});
const woken = Promise.withResolvers<void>();
const homeserver = new Homeserver({
  async pushFetch(input, init) {
    const response = await answer(new Request(input, init));
    woken.resolve();
    return response;
  },
});
const origin = globalThis.fetch;
globalThis.fetch = (input, init) => {
  const url = new URL(input instanceof Request ? input.url : input);
  return url.origin === homeserver.baseUrl ? homeserver.fetch(input, init) : origin(input, init);
};
const { userId, accessToken } = homeserver.createUser("bot");
const environment: Record<string, string> = {
  MATRIX_URL: homeserver.baseUrl,
  MATRIX_TOKEN: accessToken,
  MATRIX_WAKE_SECRET: "a secret of the deployed bot",
  BOT_URL: "https://bot.example",
  DENO_KV_URL: `${Deno.args[0]}/bot.kv`,
};
for (const [name, value] of Object.entries(environment)) Deno.env.set(name, value);
await import("../../../examples/deploy/main.ts");

await using alice = new Client({
  baseUrl: homeserver.baseUrl,
  fetch: homeserver.fetch,
  accessToken: homeserver.createUser("alice").accessToken,
  log: false,
});
const roomId = await alice.createRoom({ invitees: [userId] });
const said = () =>
  homeserver.room(roomId).messages.filter(({ sender }) => sender === userId).map(({ content }) =>
    content.body
  );
const [cron] = crons;
await cron?.run(); // the invitation, which nobody was told of
const joined = Object.keys(await alice.getJoinedMembers(roomId)).includes(userId);
await alice.sendText(roomId, "one");
if (cron !== undefined) await woken.promise;
await Promise.all([cron?.run(), cron?.run()]);
console.log(JSON.stringify({ crons: crons.map(({ schedule }) => schedule), joined, said: said() }));
Deno.exit(0);
