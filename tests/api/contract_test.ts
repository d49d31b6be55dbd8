import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { Client } from "../../src/client/client.ts";
import { clientAPI } from "../../src/api/api.ts";
import { MatrixError, MatrixRequestError } from "@greenroom/matrix/errors";
import { type Rule, scripted, type ScriptedRequest, untilSettled } from "../support/scripted_fetch.ts";
import { CLASS_MEMBERS, CLIENT_MEMBERS, CONTRACT, type ContractRow, USUAL_ANSWER } from "./contract_table.ts";
import { contractText, writtenOperations, type WrittenParameter, writtenPaths } from "./contract_text.ts";

type Operation = (...args: unknown[]) => Promise<unknown>;

/** All that can be seen of a call. */
interface Observation {
  requests: { line: string; body: unknown }[];
  outcome: unknown;
  session: unknown;
}

const camelCase = (name: string): string =>
  name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

const TRANSACTION_ID = /\/gr-[\w-]+$/;

/** A request without what differs from call to call. */
function line({ method, path, query }: ScriptedRequest): string {
  const place = decodeURIComponent(path).replace(TRANSACTION_ID, "/TXN");
  return `${method} ${place}${query === "" ? "" : `?${query}`}`;
}

/** Calls an operation on a new session with its required arguments and the options given. */
async function observe(row: ContractRow, options?: Record<string, unknown>): Promise<Observation> {
  const { session, requests, clock } = scripted({ "*": USUAL_ANSWER as Rule, ...row.answers });
  const operation = clientAPI(session)[camelCase(row.operation) as "getState"] as Operation;
  const all = row.always === undefined && options === undefined ? [] : [{ ...row.always, ...options }];
  const outcome = await untilSettled(clock, operation(...Object.values(row.required ?? {}), ...all))
    .catch((error: unknown) => {
      assert(error instanceof MatrixError, `${row.operation} threw ${error}`);
      return { rejected: error.name, status: error instanceof MatrixRequestError ? error.status : undefined };
    });
  const { mxid, deviceId, http: { accessToken: token, baseUrl } } = session;
  return {
    requests: requests.map((request) => ({
      line: line(request),
      body: request.body instanceof Uint8Array
        ? { bytes: request.body, type: request.headers.get("content-type") }
        : request.body,
    })),
    outcome,
    session: { mxid, deviceId, token, baseUrl },
  };
}

for (const row of CONTRACT) {
  const name = camelCase(row.operation);
  const optional = Object.entries(row.optional ?? {}).map(([key, parameter]) =>
    [camelCase(key), parameter] as const
  );

  Deno.test(`${name}() makes the contract's request of its required arguments, in the contract's order`, async () => {
    const { requests } = await observe(row);
    const last = requests.at(-1);
    assertEquals(last?.line, row.request);
    const body = row.body instanceof Uint8Array
      ? { bytes: row.body, type: "application/octet-stream" }
      : row.body;
    assertEquals(last?.body, body);
  });

  if (optional.length > 0) {
    Deno.test(`${name}() has the contract's defaults, and each of its options makes a difference`, async () => {
      const bare = await observe(row);
      const given = Object.fromEntries(optional.map(([key, parameter]) => [key, parameter.default]));
      assertEquals(await observe(row, { ...given, ...row.always }), bare, "all defaults");
      for (const [key, { default: usual, other }] of optional) {
        if (row.always?.[key] === undefined) assertEquals(await observe(row, { [key]: usual }), bare, key);
        assertNotEquals(await observe(row, { [key]: other }), bare, key);
      }
    });
  }
}

Deno.test("Client has every operation of the contract", async () => {
  await using client = new Client({ api: scripted().session.http });
  const members = client as unknown as Record<string, unknown>;
  const missing = CONTRACT.map(({ operation }) => camelCase(operation)).filter((name) =>
    typeof members[name] !== "function"
  );
  assertEquals(missing, []);
});

Deno.test("Client has the contract's attributes, its operations on syncing and encryption, and its helpers", async () => {
  await using client = new Client({ api: scripted().session.http });
  assertEquals(Object.values(CLIENT_MEMBERS).filter((member) => !(member in client)), []);
  assertEquals(Object.values(CLASS_MEMBERS).filter((member) => !(member in Client)), []);
});

const text = contractText();

Deno.test({
  name:
    "The contract's table has every operation of the contract's text, each with its parameters and defaults",
  ignore: text === undefined,
  fn() {
    const inTable = new Map(CONTRACT.map((row) => [row.operation, row]));
    const written = writtenOperations(text ?? "");
    assert(written.length > 80, `only ${written.length} operations found`);
    for (const { name, parameters } of written) {
      const row = inTable.get(name);
      if (row === undefined) {
        assert(
          name in CLIENT_MEMBERS || name in CLASS_MEMBERS || name.includes("."),
          `${name} is not in the table`,
        );
        continue;
      }
      assertEquals(tableParameters(row), parameters, name);
      inTable.delete(name);
    }
    assertEquals([...inTable.keys()], [], "not in the contract");
  },
});

Deno.test({
  name: "The contract's table has the methods and paths that the contract's text states",
  ignore: text === undefined,
  fn() {
    for (const [operation, written] of writtenPaths(text ?? "")) {
      const request = CONTRACT.find((row) => row.operation === operation)?.request ?? "";
      const [, method, path] = /^(\w+ )?(.*)$/.exec(written) ?? [];
      assert(
        request.startsWith(method ?? "") && request.includes(path ?? ""),
        `${operation}: ${request} is not ${written}`,
      );
    }
  },
});

/** The words of the contract for the defaults that it does not write as they are. */
const WORDS = new Map<unknown, string>([
  [undefined, "none"],
  ["", "empty"],
  ["private_chat", "private"],
  ["online", "ONLINE"],
  ["m.text", "TEXT"],
  ["m.file", "FILE"],
  ["m.login.password", "PASSWORD"],
]);

/** The parameters of a row, as the contract writes them. */
function tableParameters({ required = {}, optional = {} }: ContractRow): WrittenParameter[] {
  return [
    ...Object.keys(required).map((name) => ({ name })),
    ...Object.entries(optional).map(([name, { default: usual }]) => ({
      name,
      default: WORDS.get(usual) ?? String(usual),
    })),
  ];
}
