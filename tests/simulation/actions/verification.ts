/**
 * Users verify each other's devices, in a world that breaks off what it likes.
 *
 * @module
 */

import { VerificationError } from "@greenroom/matrix";
import type { VerificationRequest } from "@greenroom/matrix/types";
import type { Device } from "../world/device.ts";
import type { World } from "../world/world.ts";
import { type ActionKind, chosen } from "./action.ts";

/** The next request of a device that another gets; undefined: its process has ended. */
async function requestAt(other: Device, by: Device): Promise<VerificationRequest | undefined> {
  for await (const request of other.client?.crypto?.verificationRequests ?? []) {
    if (request.userId === by.userId && request.deviceId === by.deviceId) return request;
  }
  return undefined;
}

/** One asks, the other accepts, and both say whether they see the same. */
export async function verify(world: World, one: Device, other: Device): Promise<void> {
  const { userId, deviceId } = other;
  const asked = requestAt(other, one);
  const mine = await one.client?.crypto?.requestVerification({ userId, deviceId });
  const theirs = await asked;
  if (mine === undefined || theirs === undefined) return;
  await theirs.accept();
  while (mine.phase === "requested") await mine.changed();
  await (deviceId.length % 2 === 0 ? mine : theirs).startSas();
  const [seen, shown] = await Promise.all([mine.compare(), theirs.compare()]);
  const isSame = JSON.stringify(seen) === JSON.stringify(shown);
  if (!isSame) world.violate(`${one.name} and ${other.name} verify each other, and see different emoji`);
  await Promise.all([mine.confirm(), theirs.confirm()]);
  const [result] = await Promise.all([mine.done, theirs.done]);
  world.reach("verified: a device");
  const [known] = (await one.client?.crypto?.getDevices(userId) ?? []).filter((each) =>
    each.deviceId === deviceId
  );
  if (known !== undefined && known.trust !== "verified") {
    world.violate(
      `${one.name} has verified ${other.name}, which is ${known.trust}: ${JSON.stringify(result)}`,
    );
  }
}

/** The kinds. */
export const verification: readonly ActionKind[] = [
  {
    name: "verify a device",
    weight: 2,
    perform({ world, device, action: { what } }) {
      const others = world.devices.filter((other) => other !== device && other.isRunning);
      const other = chosen(others, what);
      if (other === undefined || !device.isRunning) return;
      world.note(`${device.name} asks ${other.name} for a verification`);
      verify(world, device, other).then(
        () => world.note(`${device.name} and ${other.name} have verified each other`),
        (error) => {
          const why = error instanceof VerificationError ? error.problem : error;
          world.note(`${device.name} and ${other.name} have not verified each other: ${why}`);
        },
      );
    },
  },
];
