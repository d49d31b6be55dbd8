/**
 * An application service in this process, whose homeserver is a function that answers everything.
 *
 * @module
 */

import type { Store } from "@greenroom/matrix";
import { Appservice, createRegistration } from "@greenroom/matrix/appservice";

const registration = createRegistration({
  id: "bench",
  url: "http://bench.example",
  serverName: "localhost",
});

/** Answers whatever an application service asks. */
const answering: typeof fetch = (input) => {
  const { pathname } = new URL(input instanceof Request ? input.url : input);
  const body = pathname.includes("/send/") ? { event_id: "$sent" } : { room_id: "!room:localhost" };
  return Promise.resolve(Response.json(body));
};

/** Makes it. */
export function madeAppservice(store: Store): Appservice {
  return new Appservice({
    registration,
    serverName: "localhost",
    baseUrl: "http://localhost",
    fetch: answering,
    store,
    log: false,
  });
}

/** Has so many of its users register, join a room, and say something there. */
export async function act(appservice: Appservice, users: number): Promise<void> {
  for (let user = 0; user < users; user++) {
    await appservice.intent(`_bench_${user}`).sendText("!room:localhost", "hello");
  }
}

let events = 0;

/** Sends it transactions, one after the other, until all their messages have reached a handler. */
export async function transact(
  appservice: Appservice,
  { transactions, perTransaction }: { readonly transactions: number; readonly perTransaction: number },
): Promise<void> {
  let handled = 0;
  const all = Promise.withResolvers<void>();
  appservice.on("m.room.message", () => {
    if (++handled === transactions * perTransaction) all.resolve();
  });
  const done = appservice.start({ ping: false });
  for (let id = 0; id < transactions; id++) {
    const body = {
      events: Array.from({ length: perTransaction }, () => ({
        type: "m.room.message",
        event_id: `$${++events}:localhost`,
        room_id: `!room${events % 100}:localhost`,
        sender: "@alice:localhost",
        origin_server_ts: 1,
        content: { msgtype: "m.text", body: "hello" },
      })),
    };
    const response = await appservice.fetch(
      new Request(`http://bench.example/_matrix/app/v1/transactions/${events}`, {
        method: "PUT",
        headers: { authorization: `Bearer ${registration.hs_token}` },
        body: JSON.stringify(body),
      }),
    );
    if (response.status !== 200) throw new Error(`Cannot measure: it answered ${response.status}`);
  }
  await all.promise;
  await appservice.stop();
  await done;
}
