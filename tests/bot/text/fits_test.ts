import { assertEquals, assertRejects } from "@std/assert";
import { Client, MemoryStore } from "@greenroom/matrix";
import { EventTooLargeError } from "@greenroom/matrix/errors";
import type { EventID, RoomMessageContent } from "../../../types.ts";
import { Homeserver } from "@greenroom/matrix/testing";
import { formatPieces } from "@greenroom/matrix/bot";
import { MAX_TEXT_BYTES } from "../../../src/bot/text/format_pieces.ts";
import { byteLength } from "../../../src/bot/text/mod.ts";

const MEGOLM = { algorithm: "m.megolm.v1.aes-sha2" } as const;

/** The longest text that formatPieces() lets pass, as an edit. */
function longestEdit(of: EventID, factor = 1): RoomMessageContent {
  const text = { body: "", format: "org.matrix.custom.html" as const, formatted_body: "", "m.mentions": {} };
  text.body = "a".repeat(MAX_TEXT_BYTES * factor - byteLength(JSON.stringify(text)));
  const said = { msgtype: "m.text" as const, ...text };
  const relation = { rel_type: "m.replace" as const, event_id: of, "m.in_reply_to": { event_id: of } };
  return { ...said, body: `* ${said.body}`, "m.new_content": said, "m.relates_to": relation };
}

Deno.test("formatPieces() lets pass what fits into an encrypted event as an edit, and not much less", async () => {
  await using homeserver = new Homeserver();
  const { accessToken: token } = await homeserver.createUser("alice");
  const { baseUrl, fetch } = homeserver;
  await using client = new Client({
    baseUrl,
    fetch,
    accessToken: token,
    store: new MemoryStore(),
    encryption: true,
  });
  const running = client.start();
  await client.ready;
  const roomId = await client.createRoom({
    initialState: [{ type: "m.room.encryption", state_key: "", content: MEGOLM }],
  });
  const sent = await client.sendText(roomId, "a");
  await client.sendMessage(roomId, longestEdit(sent));
  await assertRejects(() => client.sendMessage(roomId, longestEdit(sent, 1.15)), EventTooLargeError);
  const [piece] = await formatPieces("words and *more* words\n".repeat(2_000));
  if (piece !== undefined) {
    assertEquals(typeof await client.sendMessage(roomId, { msgtype: "m.text", ...piece }), "string");
  }
  await client.stop();
  await running;
});
