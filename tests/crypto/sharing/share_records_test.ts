import { assert, assertEquals } from "@std/assert";
import { type DeviceShare, readShares, writeShares } from "../../../src/crypto/sharing/share_records.ts";
import { outboundKey } from "../../../src/crypto/sharing/mod.ts";
import { device } from "./fakes.ts";
import { ALICE, ROOM } from "./room.ts";
import { Stage } from "./stage.ts";

const MAX_SHARES = 2_000;

Deno.test("recipients are never displaced by devices without a key, of which the last are kept", async () => {
  const stage = await Stage.open();
  const { session_id } = await stage.send();
  const sessionId = String(session_id);
  const none = Array.from({ length: MAX_SHARES + 5 }, (_, number) => {
    const share: DeviceShare = { deviceId: `N${number}`, kind: "withheld", code: "m.unverified" };
    return { device: device(ALICE, share.deviceId), share };
  });
  const kept = await stage.step(async (tx) => {
    const record = await tx.get(outboundKey(ROOM));
    assert(record !== undefined);
    await writeShares(tx, { roomId: ROOM, record }, none);
    return (await readShares(tx, { roomId: ROOM, sessionId }, [ALICE])).get(ALICE)?.devices ?? [];
  });
  assertEquals([kept.length, kept[0]?.deviceId, kept[1]?.deviceId], [MAX_SHARES, "ALICE1", "N6"]);
});
