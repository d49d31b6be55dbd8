/**
 * Has a client handle what a sync brought, waits until it waits for the next, and prints what of the first it
 * still holds. A program of its own, for it collects its garbage.
 *
 * @module
 */

import { Client } from "@greenroom/matrix";
import { Homeserver } from "@greenroom/matrix/testing";

const { gc } = globalThis as unknown as { gc: () => void }; // by --expose-gc
const ROUNDS = 200;

await using homeserver = new Homeserver();
const { baseUrl, fetch } = homeserver;
const { accessToken: token } = homeserver.createUser("alice");
await using client = new Client({ baseUrl, fetch, accessToken: token });
const roomId = await client.createRoom();
await client.sendText(roomId, "Hello");

const seen = new Map<string, WeakRef<object>>();
const handled = Promise.withResolvers<void>();
client.on(
  "SYNC_SUCCESSFUL",
  ({ data }) => void seen.set("response", seen.get("response") ?? new WeakRef(data)),
);
client.on("m.room.message", (event) => {
  seen.set("event", new WeakRef(event));
  handled.resolve();
});
const syncing = client.start();
await handled.promise;

const held = () => [...seen].filter(([, object]) => object.deref() !== undefined).map(([name]) => name);
for (let round = 0; round < ROUNDS && held().length > 0; round++) {
  await new Promise((resolve) => setTimeout(resolve)); // only what is not looked at in this turn can go
  gc();
}
console.log(JSON.stringify({ seen: [...seen.keys()], held: held() }));
await client.stop();
await syncing;
