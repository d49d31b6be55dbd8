/**
 * The calls of all operations, as the tables describe them, and a homeserver that answers.
 *
 * @module
 */

import { refusal, type Rule, type ScriptedRequest } from "../support/scripted_fetch.ts";
import { BEYOND_CONTRACT } from "./beyond_contract.ts";
import { CONTRACT, type ContractRow, USUAL_ANSWER } from "./contract_table.ts";

/** A call of an operation. */
export interface OperationCall {
  /** Says which. */
  readonly title: string;
  /** The operation's name. */
  readonly name: string;
  /** What it is given. */
  readonly args: readonly unknown[];
  /** Answers that it needs. */
  readonly answers: Readonly<Record<string, Rule>> | undefined;
}

const camelCase = (name: string): string =>
  name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** A homeserver that wants a password once where it may. */
export const wantsPassword = (answers: Readonly<Record<string, Rule>> = {}): Record<string, Rule> => ({
  "*": ({ method, path, body }: ScriptedRequest) => {
    const challenged = method !== "GET" && !JSON.stringify(body).includes('"auth"') &&
      /devices|password|deactivate|get_token|device_signing|register/.test(path);
    const flows = [{
      stages: [path.endsWith("register") ? "m.login.registration_token" : "m.login.password"],
    }];
    return challenged ? refusal(401, "", { flows, session: "uia" }) : USUAL_ANSWER;
  },
  ...answers,
});

/** The calls that the contract's table describes: bare, and with each of its options. */
function contractCalls({ required = {}, optional = {}, always }: ContractRow): unknown[][] {
  const options = Object.entries(optional).map(([name, { other }]) => ({
    ...always,
    [camelCase(name)]: other,
  }));
  return [always, ...options].map((given) => [...Object.values(required), ...(given ? [given] : [])]);
}

const contract = CONTRACT.map((row) => [camelCase(row.operation), contractCalls(row), row.answers] as const);
const beyond = Object.entries(BEYOND_CONTRACT).map(([name, calls]) => [name, calls, undefined] as const);

/** Every operation, with all its calls. */
export const OPERATIONS = [...contract, ...beyond];

/** Every call of every operation. */
export function callsOf(): OperationCall[] {
  return OPERATIONS.flatMap(([name, calls, answers]) =>
    calls.map((args, index) => ({ title: `${name}() (call ${index + 1})`, name, args, answers }))
  );
}
