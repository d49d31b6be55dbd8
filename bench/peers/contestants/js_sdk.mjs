/**
 * matrix-js-sdk, on Deno and on Node: its own store in memory, no threads, and silent.
 *
 * @module
 */

import "./quiet.mjs";
import { createClient, MatrixEventEvent, RoomEvent } from "matrix-js-sdk";
import { answers, count, drive, encrypted, TEXT, url } from "./drive.mjs";

await drive(async (token) => {
  const client = createClient({
    baseUrl: url,
    accessToken: token,
    userId: "@me:example.org",
    deviceId: "BENCH",
    timelineSupport: false,
  });
  if (encrypted) {
    await client.initRustCrypto({ useIndexedDB: false });
    // It would publish its keys after the first sync only, which already has messages for them.
    const { outgoingRequestsManager } = /** @type {any} */ (client.getCrypto());
    await outgoingRequestsManager.doProcessOutgoingRequests();
  }
  const handle = answers
    ? (/** @type {any} */ event) => client.sendTextMessage(event.getRoomId(), TEXT)
    : () => count();
  client.on(RoomEvent.Timeline, (event, _room, toStart, removed) => {
    if (!toStart && !removed && event.getWireType() !== "m.room.encrypted" && !event.isSending()) {
      handle(event);
    }
  });
  client.on(MatrixEventEvent.Decrypted, (event) => {
    if (!event.isDecryptionFailure()) handle(event);
  });
  await client.startClient({ initialSyncLimit: 20, threadSupport: false });
  return { send: (roomId, text) => client.sendTextMessage(roomId, text) };
});
