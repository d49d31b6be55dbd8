/**
 * What `docs/speed.md` says: written with the results, so that no number in it is older than they are.
 *
 * @module
 */

import { NAMES as ENGINES, standing } from "../crypto/encryption.ts";
import { time } from "../crypto/report.ts";
import { ROOT, run } from "../../tools/process.ts";
import type { Circumstances } from "../support/circumstances.ts";
import { number, row } from "../support/markdown.ts";
import { NAMES } from "./entrants.ts";
import type { Measurements } from "./goals.ts";
import type { JobName } from "./inputs/plan.ts";
import { PUBLISHED } from "./published.ts";
import { middle, type Standing } from "./rounds.ts";
import { startTime } from "./start_and_idle.ts";

const PAGE = "docs/speed.md";
const BEGIN = "<!-- Written by `deno task bench:peers --write`: do not edit. -->";
const END = "<!-- The end of what is written. -->";
const OTHERS = ["matrix-js-sdk, Deno", "matrix-bot-sdk, Deno", "mautrix-python", "matrix-nio"];
const OTHERS_ENCRYPTED = [
  "matrix-js-sdk, Deno",
  undefined,
  "mautrix-python, memory",
  "matrix-nio, SQLite",
];

/** Puts the figures between their marks. */
export async function writeSpeedPage(measurements: Measurements, { label }: Circumstances): Promise<void> {
  const path = `${ROOT}${PAGE}`;
  const text = await Deno.readTextFile(path);
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (begin < 0 || end < begin) {
    throw new Error(`Cannot write ${PAGE}: the marks of the figures are not there`);
  }
  const figures = `${BEGIN}\n\n${section(measurements, label)}\n\n`;
  await Deno.writeTextFile(path, text.slice(0, begin) + figures + text.slice(end));
  const { code, output } = await run("deno", ["fmt", "--quiet", PAGE]);
  if (code !== 0) throw new Error(`Cannot format ${PAGE}: ${output}`);
}

/** The table of what matters most, and the circumstances. */
function section(measurements: Measurements, label: string): string {
  const { plain, encrypted, starts, encryptedStarts, idle, encryption } = measurements;
  const plainNames = [NAMES.limit, NAMES.memory, NAMES.sqlite, ...OTHERS];
  const encryptedNames = [NAMES.encryptedLimit, NAMES.memory, NAMES.sqlite, ...OTHERS_ENCRYPTED];
  const speeds = (
    title: string,
    standings: readonly Standing[],
    names: readonly (string | undefined)[],
    job: JobName,
  ) => row([title, ...names.map((name) => speed(standings, name, job))]);
  const ms = (all: Measurements["starts"], name: string) => {
    const found = all.find((each) => each.name === name);
    return found === undefined ? "–" : number(startTime(found));
  };
  const kilobytes = (name: string) => number((idle.find((each) => each.name === name)?.each ?? NaN) / 1_000);
  const rows = [
    speeds("initial sync, events/s", plain, plainNames, "initial"),
    speeds("large syncs, events/s", plain, plainNames, "incremental"),
    speeds("small syncs, events/s", plain, plainNames, "small"),
    speeds("sending, messages/s", plain, plainNames, "send"),
    speeds("initial sync, encrypted", encrypted, encryptedNames, "initial"),
    speeds("large syncs, encrypted", encrypted, encryptedNames, "incremental"),
    speeds("small syncs, encrypted", encrypted, encryptedNames, "small"),
    speeds("sending, encrypted", encrypted, encryptedNames, "send"),
    row(["start to first event, ms", ...plainNames.map((name) => ms(starts, asPublished(name)))]),
    row(["one more idle client, kB", ...plainNames.map(kilobytes)]),
  ];
  const decrypted = time(standing(encryption.against.get("decrypt_event"), ENGINES.durable))?.wall ?? NaN;
  const head = ["", "limit", "Greenroom", "… in SQLite", "js-sdk", "bot-sdk", "mautrix", "nio"];
  return [
    [row(head), `|---|${"---:|".repeat(head.length - 1)}`, ...rows].join("\n"),
    `To decrypt an event of 200 bytes and make that durable takes the engine ${number(decrypted)} µs. ` +
    `The process of an encrypted bot has handled its first event after ${
      ms(encryptedStarts, asPublished(NAMES.sqlite))
    } ms. ` +
    `Medians; ${label}.`,
  ].join("\n\n");
}

/** Greenroom's own are started as bots get them; others are so anyway. */
function asPublished(name: string): string {
  return name === NAMES.memory || name === NAMES.sqlite ? name + PUBLISHED : name;
}

function speed(standings: readonly Standing[], name: string | undefined, job: JobName): string {
  const found = standings.find(({ entrant }) => entrant.name === name);
  const events = found?.rounds[0]?.find((each) => each.job === job)?.events;
  if (found === undefined || events === undefined) return "–";
  return number(events / middle(found, job, "wall") * 1_000);
}
