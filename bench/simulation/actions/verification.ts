/**
 * Users verify each other's devices, in a world that breaks off what it likes.
 *
 * @module
 */

import { VerificationError } from "@greenroom/matrix/errors";
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

/** A verification in which the server changes what one of the two gets. */
export interface Betrayal {
  /** Who gets it. */
  readonly device: Device;
  /** Whether it has been changed. */
  isDone: boolean;
  /** Whether that verification is over: of a later one the server changes nothing in its place. */
  isOver: boolean;
}

/** Devices that verify another, or had begun to when their process ended. */
const verifying = new WeakSet<Device>();
/** Devices that do while the server sits in between. */
const betrayed = new WeakSet<Device>();

/** Whether a device verifies another. */
export function isVerifying(device: Device): boolean {
  return verifying.has(device);
}

/**
 * One asks, the other accepts, and both say whether they see the same.
 *
 * @param betrayal What the server does meanwhile: who it betrays must not take it for the other.
 */
export async function verify(
  world: World,
  one: Device,
  other: Device,
  betrayal?: Betrayal,
): Promise<void> {
  if ([one, other].some((each) => betrayed.has(each))) return;
  for (const each of [one, other]) {
    verifying.add(each);
    if (betrayal !== undefined) betrayed.add(each);
  }
  const { userId, deviceId } = other;
  const asked = requestAt(other, one);
  const mine = await one.client?.crypto?.requestVerification({ userId, deviceId });
  const theirs = await asked;
  if (mine === undefined || theirs === undefined) return;
  try {
    await compared(world, { one, other }, { mine, theirs, betrayal });
    for (const each of [one, other]) each.isUnsure = false;
  } catch (error) {
    for (const each of [one, other]) each.isUnsure = !each.hasKey;
    throw error;
  } finally {
    for (const each of [one, other]) {
      verifying.delete(each);
      betrayed.delete(each);
    }
    if (betrayal !== undefined) betrayal.isOver = true;
    const victim = betrayal?.device === one ? mine : theirs;
    if (betrayal?.isDone && victim.phase === "done") {
      world.violate(`${betrayal.device.name} has verified what the server has changed`);
    }
  }
}

async function compared(
  world: World,
  { one, other }: { readonly one: Device; readonly other: Device },
  { mine, theirs, betrayal }: {
    readonly mine: VerificationRequest;
    readonly theirs: VerificationRequest;
    readonly betrayal: Betrayal | undefined;
  },
): Promise<void> {
  const { userId, deviceId } = other;
  await theirs.accept();
  while (mine.phase === "requested") await mine.changed();
  await (deviceId.length % 2 === 0 ? mine : theirs).startSas();
  const [seen, shown] = await Promise.all([mine.compare(), theirs.compare()]);
  const isSame = JSON.stringify(seen) === JSON.stringify(shown);
  if (!isSame && betrayal?.isDone) {
    world.reach("verified: not, since the emoji differ");
    await Promise.all([mine.mismatch(), theirs.mismatch()]);
    return;
  }
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
