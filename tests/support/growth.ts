/**
 * Which collections grow: all maps, sets and arrays of the process, whoever has them.
 *
 * @module
 */

import { Session } from "node:inspector";

/** A collection that has grown. */
export interface Growth {
  /** How many more entries it has. */
  readonly by: number;
  /** Some of its entries. */
  readonly sample: string;
}

type Collection = Map<unknown, unknown> | Set<unknown> | unknown[];

const KINDS = ["Array", "Map", "Set"] as const;
/** Where the debugger puts what it has found. */
const FOUND = "collectionsFound";

/** All collections that are reachable, and how many entries each has. */
async function collections(): Promise<Map<Collection, number>> {
  const session = new Session();
  session.connect();
  const post = (method: string, given: Record<string, unknown>): Promise<Answer> =>
    new Promise((resolve, reject) => {
      (session.post as Post)(
        method,
        given,
        (error, answer) => error === null ? resolve(answer) : reject(error),
      );
    });
  const place = globalThis as Record<string, unknown>;
  const sizes = new Map<Collection, number>();
  try {
    for (const kind of KINDS) {
      const { result } = await post("Runtime.evaluate", { expression: `${kind}.prototype` });
      const { objects } = await post("Runtime.queryObjects", { prototypeObjectId: result?.objectId });
      await post("Runtime.callFunctionOn", {
        objectId: objects?.objectId,
        functionDeclaration: `function () { globalThis.${FOUND} = this; }`,
      });
      for (const each of place[FOUND] as Collection[]) {
        if (Object.hasOwn(each, "constructor")) continue; // what a class of its own inherits
        sizes.set(each, Array.isArray(each) ? each.length : each.size);
      }
    }
  } finally {
    delete place[FOUND];
    session.disconnect();
  }
  return sizes;
}

/**
 * Does something, and tells which collections have more entries afterwards; one that is new had none.
 *
 * @param work What is done.
 * @param least How many more, at least.
 */
export async function grownBy(work: () => Promise<unknown>, least: number): Promise<Growth[]> {
  const before = await collections();
  await work();
  const grown: Growth[] = [];
  const after = await collections();
  for (const [each, size] of after) {
    const by = size - (before.get(each) ?? 0);
    const isOurs = [before, after].includes(each as typeof before) ||
      (Array.isArray(each) && isCollection(each[0]));
    if (isOurs || by < least) continue;
    const last = [...each.values().take(3)].map((value) => Deno.inspect(value, { depth: 0 }));
    const keys = each instanceof Map
      ? [...each.keys().take(3)].map((key) => Deno.inspect(key, { depth: 0 }))
      : [];
    grown.push({ by, sample: [...keys, ...last].join(", ").slice(0, 400) });
  }
  return grown;
}

function isCollection(value: unknown): boolean {
  return Array.isArray(value) || value instanceof Map || value instanceof Set;
}

/** What the debugger answers. */
interface Answer {
  readonly result?: { readonly objectId: string };
  readonly objects?: { readonly objectId: string };
}

type Post = (
  method: string,
  given: Record<string, unknown>,
  callback: (error: Error | null, answer: Answer) => void,
) => void;
