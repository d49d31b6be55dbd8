/** How much of the history of a room is shared. */

import { assertEquals } from "@std/assert";
import { type HistoryClient, shareHistory } from "../../../src/encryption/history.ts";
import type { EngineRunner } from "../../../src/actors/crypto/crypto.ts";
import { recordingLogger } from "../../actors/kernel/support.ts";
import { GUEST } from "./scene.ts";
import { answeredBy } from "../../support/answered_by.ts";

const ROOM = "!room:localhost";

Deno.test("Of a room with more keys than one file takes a part is shared, and no more are read", async () => {
  const content = { room_id: ROOM, session_id: "s", session_key: "k", sender_key: "c" } as const;
  const session = { content, senderEd25519: "e", sharedHistory: true, firstIndex: 0 };
  let [pages, uploaded] = [0, ""];
  const answers: Record<string, () => unknown> = {
    areDevicesStale: () => false,
    historyRecipients: () => ({ isVerified: true, devices: 1, waiting: 0 }),
    offerHistory: () => 1,
    exportSessions() {
      pages++;
      return {
        sessions: Array(200).fill(session),
        ...pages < 300 && { last: { roomId: ROOM, sessionId: "s" } },
      };
    },
  };
  const engine = {
    actor: answeredBy((name) => Promise.resolve(answers[name]?.())),
    open: () => Promise.resolve(),
    requests: { round: () => Promise.resolve({}), wake() {} },
    log: recordingLogger(),
  } as unknown as EngineRunner;
  const client = {
    api: {
      getStateEvent: () => Promise.resolve({ history_visibility: "shared" }),
      uploadMedia: () => Promise.resolve(uploaded = "mxc://localhost/file"),
    },
  } as unknown as HistoryClient;
  // One page more: whether there is any key.
  const { keys } = await shareHistory(engine, client, { roomId: ROOM, userId: GUEST });
  assertEquals([pages, keys, uploaded], [251, 50_000, "mxc://localhost/file"]);
});
