import { assert, assertEquals } from "@std/assert";
import { ForbiddenError, MatrixRequestError, NotFoundError } from "@greenroom/matrix";
import { InvalidParamError } from "@greenroom/matrix/errors";
import type { DehydratedDeviceUpload, UserID } from "@greenroom/matrix/types";
import type { Operation } from "./support/operation.ts";
import { refused } from "./support/wait.ts";

/** As such IDs are: with what a path must escape. */
const DEVICE = "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo";
const OTHER = "ipdI6Zs/7DzFTEhiA2iGaMDfHkIYCleqXT6L+5e1/co";

function upload(user_id: UserID, device_id: string): DehydratedDeviceUpload {
  const signatures = { [user_id]: { [`ed25519:${device_id}`]: "c2ln" } };
  return {
    device_id,
    device_data: { algorithm: "org.matrix.msc3814.v2", device_pickle: "cGlja2xl", nonce: "bm9uY2U" },
    initial_device_display_name: "Dehydrated device",
    device_keys: {
      user_id,
      device_id,
      algorithms: ["m.olm.v1.curve25519-aes-sha2"],
      keys: { [`ed25519:${device_id}`]: "a2V5", [`curve25519:${device_id}`]: device_id },
      dehydrated: true,
      signatures,
    },
    one_time_keys: { "signed_curve25519:AAAA": { key: "b25l", signatures } },
    fallback_keys: { "signed_curve25519:BBBB": { key: "ZmFsbGJhY2s", fallback: true, signatures } },
  };
}

/** The dehydrated device of the account. */
export const dehydratedDevice: readonly Operation[] = [
  {
    name: "uploadDehydratedDevice() makes a device that others find, and replaces the one before",
    covers: ["uploadDehydratedDevice", "getDehydratedDevice", "deleteDehydratedDevice"],
    async run(scene) {
      const alice = await scene.player("alice");
      const bob = await scene.player("bob");
      await refused(() => alice.raw.getDehydratedDevice(), NotFoundError, 404);
      await refused(() => alice.raw.deleteDehydratedDevice(), NotFoundError, 404);
      const device = upload(alice.userId, DEVICE);
      assertEquals(await alice.raw.uploadDehydratedDevice(device), DEVICE);
      const { device_data } = device;
      assertEquals(await alice.raw.getDehydratedDevice(), { device_id: DEVICE, device_data });
      const shown = async () => (await bob.queryKeys([alice.userId])).device_keys?.[alice.userId] ?? {};
      const { unsigned, ...keys } = (await shown())[DEVICE] ?? {};
      assertEquals([keys, unsigned], [device.device_keys, { device_display_name: "Dehydrated device" }]);
      const names = async () => (await alice.getDevices()).map(({ device_id }) => device_id);
      assert((await names()).includes(DEVICE));
      const claimed = async (deviceId: string) => {
        const { one_time_keys } = await bob.claimKeys({
          [alice.userId]: { [deviceId]: "signed_curve25519" },
        });
        return Object.keys(one_time_keys[alice.userId]?.[deviceId] ?? {});
      };
      assertEquals(await claimed(DEVICE), ["signed_curve25519:AAAA"]);
      assertEquals(await claimed(DEVICE), ["signed_curve25519:BBBB"]);

      assertEquals(await alice.raw.uploadDehydratedDevice(upload(alice.userId, OTHER)), OTHER);
      assertEquals((await alice.raw.getDehydratedDevice()).device_id, OTHER);
      assertEquals([(await shown())[DEVICE], await claimed(DEVICE)], [undefined, []]);
      assert(!(await names()).includes(DEVICE) && (await names()).includes(OTHER));
      assertEquals(await alice.raw.deleteDehydratedDevice(), OTHER);
      await refused(() => alice.raw.getDehydratedDevice(), NotFoundError, 404);
      assert(!(await names()).includes(OTHER));
    },
  },
  {
    name: "uploadDehydratedDevice() refuses what is no device; one without keys takes the one before along",
    covers: ["uploadDehydratedDevice"],
    async run(scene) {
      const alice = await scene.player("alice");
      const device = upload(alice.userId, DEVICE);
      const put = (change: object) =>
        alice.raw.uploadDehydratedDevice({ ...device, ...change } as DehydratedDeviceUpload, {
          retry: false,
        });
      const codeOf = async (change: object) =>
        (await refused(() => put(change), MatrixRequestError, 400)).errcode;
      assertEquals(await codeOf({ initial_device_display_name: undefined }), "M_MISSING_PARAM");
      assertEquals(await codeOf({ device_data: undefined }), "M_MISSING_PARAM");
      assertEquals(await codeOf({ device_data: {} }), "M_MISSING_PARAM");
      assertEquals(await codeOf({ device_data: undefined, device_id: undefined }), "M_BAD_JSON");
      assertEquals(await codeOf({ device_data: { algorithm: 1 } }), "M_BAD_JSON");
      assertEquals(await codeOf({ device_id: 1 }), "M_BAD_JSON");
      assertEquals(await codeOf({ initial_device_display_name: "x".repeat(101) }), "M_TOO_LARGE");
      await put({});
      assertEquals(await codeOf({ device_id: OTHER, device_keys: undefined }), "M_UNKNOWN");
      await refused(() => alice.raw.getDehydratedDevice(), NotFoundError, 404);
      assertEquals(await put({ initial_device_display_name: null }), DEVICE);
    },
  },
  {
    name: "getDehydratedDeviceEvents() shows what was sent to it, in pages, which stay there",
    covers: ["getDehydratedDeviceEvents"],
    async run(scene) {
      const alice = await scene.player("alice");
      const bob = await scene.player("bob");
      await refused(() => alice.raw.getDehydratedDeviceEvents(DEVICE), ForbiddenError, 403);
      await alice.raw.uploadDehydratedDevice(upload(alice.userId, DEVICE));
      await refused(() => alice.raw.getDehydratedDeviceEvents(OTHER), ForbiddenError, 403);
      await refused(() => bob.raw.getDehydratedDeviceEvents(DEVICE), ForbiddenError, 403);
      assertEquals(await alice.raw.getDehydratedDeviceEvents(DEVICE), { events: [] });
      await refused(
        () => alice.raw.getDehydratedDeviceEvents(DEVICE, { from: "s1" }),
        InvalidParamError,
        400,
      );
      const send = (count: number) =>
        bob.sendToDevice("com.example.note", { [alice.userId]: { [DEVICE]: { count } } });
      for (let count = 0; count < 3; count++) await send(count);
      const page = async (options: { from?: string; limit?: number }) => {
        const { limit, ...rest } = options;
        const query = limit === undefined ? {} : { query: { limit } };
        return await alice.raw.getDehydratedDeviceEvents(DEVICE, { ...rest, ...query });
      };
      const noted = (...counts: number[]) =>
        counts.map((count) => ({ type: "com.example.note", sender: bob.userId, content: { count } }));
      const { events, next_batch } = await page({ limit: 2 });
      assertEquals(events, noted(0, 1));
      assert(next_batch !== undefined);
      assertEquals(await page({ from: next_batch, limit: 2 }), { events: noted(2) });
      assertEquals(await page({}), { events: noted(0, 1, 2) }, "they are still there");
      await alice.raw.uploadDehydratedDevice(upload(alice.userId, DEVICE));
      assertEquals(await page({}), { events: [] }, "a new device has none of them");
    },
  },
];
