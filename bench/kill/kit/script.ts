/**
 * What the bot of the kit says, and what people answer: numbered, so that each is known again.
 *
 * @module
 */

/** How many words a stream has. */
const WORDS = 12;

/** What the bot says. */
export const kitSays = {
  /** The first question of an order, with what was drawn once. */
  asks: (number: number, token: string): string => `order ${number}: what? (${token})`,
  /** The second. */
  confirms: (number: number, { what, count }: { what: string; count: number }): string =>
    `order ${number}: ${what} as number ${count}?`,
  /** The end of it. */
  takes: (
    number: number,
    { token, count, isSure }: { token: string; count: number; isSure: boolean },
  ): string => `order ${number}: ${isSure ? "taken" : "dropped"} as number ${count} (${token})`,
  /** The reminder. */
  reminds: (number: number, due: Date): string => `order ${number} ready, due ${due.getTime()}`,
  /** The pieces of a stream. */
  tells: (number: number, variant: string): string[] => [
    `tell ${number} ${variant}:`,
    ...Array.from({ length: WORDS }, (_, index) => ` ${variant}-${index}`),
    " end",
  ],
  /** That a minute has begun. */
  minute: (due: Date): string => `minute ${due.toISOString()}`,
} as const;

/** What a text of the bot is. */
export type KitText =
  | { readonly kind: "asks"; readonly number: number; readonly token: string }
  | { readonly kind: "confirms"; readonly number: number; readonly what: string; readonly count: number }
  | { readonly kind: "takes"; readonly number: number; readonly token: string; readonly count: number }
  | { readonly kind: "reminds"; readonly number: number; readonly due: number }
  | { readonly kind: "tells"; readonly number: number }
  | { readonly kind: "minute"; readonly due: number }
  | { readonly kind: "unknown" };

/** Reads a text of the bot. */
export function readKitText(text: string): KitText {
  const [, number, token] = /^order (\d+): what\? \((.*)\)$/.exec(text) ?? [];
  if (token !== undefined) return { kind: "asks", number: Number(number), token };
  const sure = /^order (\d+): (.*) as number (\d+)\?$/.exec(text);
  if (sure !== null) {
    return { kind: "confirms", number: Number(sure[1]), what: sure[2] ?? "", count: Number(sure[3]) };
  }
  const taken = /^order (\d+): taken as number (\d+) \((.*)\)$/.exec(text);
  if (taken !== null) {
    return { kind: "takes", number: Number(taken[1]), count: Number(taken[2]), token: taken[3] ?? "" };
  }
  const ready = /^order (\d+) ready, due (\d+)$/.exec(text);
  if (ready !== null) return { kind: "reminds", number: Number(ready[1]), due: Number(ready[2]) };
  const told = /^tell (\d+)/.exec(text);
  if (told !== null) return { kind: "tells", number: Number(told[1]) };
  const minute = /^minute (\S+)$/.exec(text);
  if (minute !== null) return { kind: "minute", due: Date.parse(minute[1] ?? "") };
  return { kind: "unknown" };
}

/** Whether a text is a whole stream of a number, all of one variant. */
export function isWholeTale(text: string, number: number): boolean {
  const [, variant] = /^tell \d+ (\w+):/.exec(text) ?? [];
  return variant !== undefined && text === kitSays.tells(number, variant).join("");
}
