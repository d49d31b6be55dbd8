import { assert, assertEquals } from "@std/assert";
import * as entry from "@greenroom/matrix";
import * as appservice from "@greenroom/matrix/appservice";
import * as bot from "@greenroom/matrix/bot";
import * as errorClasses from "@greenroom/matrix/errors";
import * as oauth from "@greenroom/matrix/oauth";
import * as admin from "@greenroom/matrix/synapse-admin";
import { Homeserver } from "@greenroom/matrix/testing";
import * as types from "@greenroom/matrix/types";
import { knownTypes } from "../../src/types/checks/content_shapes.ts";

const page = await Deno.readTextFile("docs/reference/specification.md");
const rows = page.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| --"));

/** What is behind a name with dots. What others call it throws. */
function resolve(name: string, root: object): unknown {
  return name.split(".").reduce<unknown>((owner, part) => {
    const { [part]: own, prototype } = owner as Record<string, unknown>;
    return own ?? (prototype as Record<string, unknown> | undefined)?.[part];
  }, root);
}

Deno.test("Each call, error and event that the page of the specification names is there", async () => {
  const calls = [...page.matchAll(/`([\w.]+)\(\)`/g)].map(([, call = ""]) => call);
  assert(calls.length > 150, `it names ${calls.length} calls`);
  await using homeserver = new Homeserver();
  const { accessToken } = homeserver.createUser("alice");
  const { baseUrl, fetch } = homeserver;
  await using client = new entry.Client({ baseUrl, fetch, accessToken, encryption: true, log: false });
  const all = { ...types, ...entry, ...appservice, ...bot, ...oauth, ...admin, client };
  assertEquals(calls.filter((call) => typeof resolve(call, all) !== "function"), []);
  const errors = [...page.matchAll(/`(\w+Error)`/g)].map(([, name = ""]) => name);
  assertEquals(errors.filter((name) => !(name in errorClasses)), []);
  const events = [...page.matchAll(/ of `(m\.[\w.]+)`/g)].map(([, type = ""]) => type);
  assert(events.length > 3);
  assertEquals(events.filter((type) => !knownTypes().includes(type)), []);
  const internal = [...page.matchAll(/`([A-Z]{4,})`/g)].map(([, type = ""]) => type);
  assertEquals(internal.filter((type) => !(type in types.InternalEventType)), []);
});

Deno.test("The page of the specification has rows for each version from 1.1 to 1.19, in order", () => {
  const versions = rows.flatMap((row) => /^\| 1\.(\d+) /.exec(row)?.[1] ?? []).map(Number);
  assertEquals([...new Set(versions)], Array.from({ length: 19 }, (_, index) => index + 1));
  assertEquals(versions, versions.toSorted((one, other) => one - other));
  const empty = rows.filter((row) => /\|\s*\|/.test(row));
  assertEquals(empty, []);
});
