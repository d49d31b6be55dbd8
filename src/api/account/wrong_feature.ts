/**
 * What to write for a feature that is none. A file of its own because only a mistake loads it.
 *
 * @module
 */

import { ValueError } from "../../errors/matrix_error.ts";

/** The features that `ServerFeature` names, by the numbers of their proposals. */
const FEATURES: Readonly<Record<string, string>> = {
  2666: "uk.half-shot.msc2666.query_mutual_rooms.stable",
  2815: "fi.mau.msc2815",
  3391: "org.matrix.msc3391",
  3575: "org.matrix.simplified_msc3575",
  3881: "org.matrix.msc3881",
  3916: "org.matrix.msc3916.stable",
  4133: "uk.tcpip.msc4133.stable",
  4140: "org.matrix.msc4140",
  4155: "org.matrix.msc4155",
  4169: "com.beeper.msc4169",
  4186: "org.matrix.simplified_msc3575",
  4306: "org.matrix.msc4306",
  4323: "uk.timedout.msc4323",
  4354: "org.matrix.msc4354",
  4380: "org.matrix.msc4380.stable",
};

/** The error for what is neither a version nor the name of a feature. */
export function wrongFeature(feature: unknown): ValueError {
  return new ValueError(`Cannot say what the server supports: ${mistakeOf(feature)}`);
}

function mistakeOf(feature: unknown): string {
  if (typeof feature !== "string") {
    const kind = feature === null ? "null" : Array.isArray(feature) ? "a list" : `a ${typeof feature}`;
    return `the feature must be a string, not ${kind}; write "v1.11" or "org.matrix.msc4140"`;
  }
  if (feature === "") return 'it has no name; write "v1.11" or "org.matrix.msc4140"';
  const given = JSON.stringify(feature.slice(0, 64));
  const version = /^\s*v?(\d{1,3}\.\d{1,4})(?:\.\d+)?\s*$/i.exec(feature);
  if (version !== null) return `${given} is no version; write "v${version[1]}"`;
  if (/^\s*v\d+\s*$/i.test(feature)) return `${given} is no version; a version is like "v1.11"`;
  const msc = /^\s*(?:msc)?[-_ ]?(\d{4})\s*$/i.exec(feature)?.[1];
  const name = msc === undefined ? undefined : FEATURES[msc];
  const mend = name === undefined ? 'one is like "org.matrix.msc4140"' : `write "${name}"`;
  return `${given} is no name of a feature; ${mend}: client.versions() has them in unstable_features`;
}
