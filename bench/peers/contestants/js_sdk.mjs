/**
 * matrix-js-sdk, on Deno and on Node: its own store in memory, no threads, and silent.
 *
 * @module
 */

import "./quiet.mjs";
import { createClient, RoomEvent } from "matrix-js-sdk";
import { count, drive, url } from "./drive.mjs";

await drive(async (token) => {
  const client = createClient({
    baseUrl: url,
    accessToken: token,
    userId: "@me:example.org",
    deviceId: "BENCH",
    timelineSupport: false,
  });
  client.on(RoomEvent.Timeline, (_event, _room, toStart, removed) => {
    if (!toStart && !removed) count();
  });
  await client.startClient({ initialSyncLimit: 20, threadSupport: false });
});
