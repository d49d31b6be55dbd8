/**
 * What lies in wait in a world from its beginning, by its name in the table of coverage.
 *
 * @module
 */

import {
  INCOMING,
  OUTGOING,
  SERVICE_ASKS,
  SERVICE_COMMIT,
  SERVICE_TAKES,
} from "../appservice/service_operations.ts";
import type { ServiceWay } from "../appservice/service_way.ts";
import { type Ambush, type Ambushes, FAULTS, WEATHERS } from "./ambushes.ts";
import type { Weather } from "./network.ts";
import { COMMIT, operationOf } from "./operations.ts";

/** An operation, and what is to happen to it. */
export interface Aim {
  readonly operation: string;
  readonly column: string;
}

/** Where something lies in wait for devices. */
interface OfDevices {
  readonly ambushes: Ambushes<Weather["kind"]>;
}

/** Where something lies in wait for an application service. */
interface OfService {
  readonly ambushes: Ambushes<typeof OUTGOING[number]>;
  readonly way: Pick<ServiceWay, "incoming">;
}

/** How late what is late for an application service is, in milliseconds. */
const LATE = 20_000;

/** Has what concerns devices lie in wait. */
export function layForDevices({ ambushes }: OfDevices, aims: readonly Aim[]): void {
  for (const { operation, column } of aims) {
    if ([SERVICE_COMMIT, SERVICE_ASKS, SERVICE_TAKES].some((prefix) => operation.startsWith(prefix))) {
      continue;
    }
    const what = [...FAULTS, ...WEATHERS].find((each) => each === column);
    if (what !== undefined) ambushes.lie({ ...namedOf(operation, { commit: COMMIT, request: "" }), what });
  }
}

/** Has what concerns an application service lie in wait. */
export function layForService({ ambushes, way }: OfService, aims: readonly Aim[]): void {
  for (const { operation, column } of aims) {
    const kind = INCOMING.find((each) => each === column);
    if (operation.startsWith(SERVICE_TAKES)) {
      const path = `/${operation.slice(SERVICE_TAKES.length).replace(/^\w+ /, "")}`;
      if (kind !== undefined) way.incoming.push({ kind, times: 1, ms: LATE, path });
      continue;
    }
    if (![SERVICE_COMMIT, SERVICE_ASKS].some((prefix) => operation.startsWith(prefix))) continue;
    const what = [...FAULTS, ...OUTGOING].find((each) => each === column);
    const named = namedOf(operation, { commit: SERVICE_COMMIT, request: SERVICE_ASKS });
    if (what !== undefined) ambushes.lie({ ...named, what });
  }
}

/** An operation by its name in the table, which begins as those of its kind do. */
export function namedOf(
  name: string,
  { commit, request }: { readonly commit: string; readonly request: string },
): Pick<Ambush<Weather["kind"]>, "operation" | "subject"> {
  if (name.startsWith(commit)) return { operation: "commit", subject: name.slice(commit.length) };
  const subject = name.slice(request.length);
  return { operation: operationOf(subject), subject };
}
