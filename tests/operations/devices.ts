import { assert, assertEquals } from "@std/assert";
import { MatrixRequestError, NotFoundError, UnknownTokenError } from "@greenroom/matrix";
import type { Operation } from "./support/operation.ts";
import type { Scene } from "./support/scene.ts";
import { refused } from "./support/wait.ts";

async function withDevices(scene: Scene, ...deviceIds: readonly string[]) {
  const alice = await scene.player("alice");
  const clients = [];
  for (const deviceId of deviceIds) {
    const client = scene.client();
    await client.login({ identifier: alice.userId, password: alice.password, deviceId });
    clients.push(client);
  }
  return { alice, clients };
}

/** The user's devices, and the authentication that deleting them takes. */
export const devices: readonly Operation[] = [
  {
    name: "getDevices() lists the devices, updateDevice() renames one",
    covers: ["getDevices", "getDevice", "updateDevice"],
    async run(scene) {
      const { alice } = await withDevices(scene, "TABLET");
      assertEquals(
        (await alice.getDevices()).map(({ device_id }) => device_id).sort(),
        [
          alice.deviceId,
          "TABLET",
        ].sort(),
      );
      await alice.updateDevice("TABLET", "On the piano");
      const device = await alice.getDevice("TABLET");
      assertEquals([device.device_id, device.display_name], ["TABLET", "On the piano"]);
      await refused(() => alice.getDevice("NOSUCH"), NotFoundError, 404);
      await refused(() => alice.updateDevice("NOSUCH", "x"), NotFoundError, 404);
      const bob = await scene.player("bob");
      await refused(() => bob.getDevice("TABLET"), NotFoundError, 404);
    },
  },
  {
    name: "deleteDevice() wants authentication, and then voids the device's token",
    covers: ["deleteDevice"],
    async run(scene) {
      const { alice, clients: [tablet] } = await withDevices(scene, "TABLET");
      const challenge = await refused(() => alice.deleteDevice("TABLET"), MatrixRequestError, 401);
      assert(Array.isArray(challenge.body.flows) && typeof challenge.body.session === "string");
      await refused(
        () => alice.deleteDevice("TABLET", { authentication: { password: "wrong" } }),
        MatrixRequestError,
        401,
      );
      assertEquals((await tablet?.whoami())?.device_id, "TABLET");
      await alice.deleteDevice("TABLET", { authentication: { password: alice.password } });
      await refused(async () => await tablet?.whoami(), UnknownTokenError, 401);
      assertEquals((await alice.getDevices()).map(({ device_id }) => device_id), [alice.deviceId]);
    },
  },
  {
    name: "deleteDevices() deletes several in one request, and withUia() does the same by hand",
    covers: ["deleteDevices", "withUia"],
    async run(scene) {
      const { alice } = await withDevices(scene, "ONE", "TWO", "THREE");
      const authentication = { password: alice.password };
      await alice.deleteDevices(["ONE", "TWO", "NOSUCH"], { authentication });
      const ids = async () => (await alice.getDevices()).map(({ device_id }) => device_id).sort();
      assertEquals(await ids(), [alice.deviceId, "THREE"].sort());
      await alice.withUia(
        (auth) =>
          alice.request("POST", "/_matrix/client/v3/delete_devices", { body: { devices: ["THREE"], auth } }),
        authentication,
      );
      assertEquals(await ids(), [alice.deviceId]);
    },
  },
];
