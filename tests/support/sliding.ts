/**
 * Sliding sync in tests: both spellings of it. Tests run with Synapse's;
 * with `GREENROOM_SLIDING=merged` in the environment they run with the merged one.
 *
 * @module
 */

/** The proposals that the extensions of the merged spelling are in. */
export const EXTENSIONS = ["msc4538", "msc4543", "msc4548", "msc4551", "msc4508"] as const;

/** What a homeserver says that it has. */
export const SPELLINGS: Readonly<Record<"synapse" | "merged", Record<string, boolean>>> = {
  synapse: { "org.matrix.simplified_msc3575": true },
  merged: Object.fromEntries(
    ["simplified_msc3575", ...EXTENSIONS].map((name) => [`org.matrix.${name}.stable`, true]),
  ),
};

/** The variable with the spelling that tests run with. */
export const SPELLING = "GREENROOM_SLIDING";

/** The spelling that tests run with. */
export const spelling: keyof typeof SPELLINGS = Deno.env.get(SPELLING) === "merged" ? "merged" : "synapse";

/** A homeserver with it. */
export const SLIDING = { unstableFeatures: SPELLINGS[spelling] };

/** Whether a request is one of sliding sync. */
export function isSlide({ pathname }: URL): boolean {
  return /(?:simplified_msc3575|client\/v4)\/sync$/.test(pathname);
}

/**
 * What a request of sliding sync asks for: where it goes on, and the index of the last room; undefined: all.
 */
export function slideOf(
  { searchParams }: URL,
  { pos, lists = {} }: { pos?: string; lists?: { rooms?: { ranges?: number[][]; range?: number[] } } },
): { readonly pos: string | null; readonly last: number | undefined } {
  const { ranges = [], range = ranges[0] } = lists.rooms ?? {};
  return { pos: pos ?? searchParams.get("pos"), last: range?.[1] };
}
