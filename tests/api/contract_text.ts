/**
 * The contract's own text, from beside the repository, read as data; without it, tests that need it
 * skip.
 *
 * @module
 */

const CONTRACT = new URL("../../../shared/spec/interface.md", import.meta.url);

/** A parameter, as the contract writes it. */
export interface WrittenParameter {
  readonly name: string;
  /**
   * The default: its text, `none` of a parameter that may be absent; absent of a parameter that is
   * required.
   */
  readonly default?: string;
}

/** An operation, as the contract writes it. */
export interface WrittenOperation {
  readonly name: string;
  readonly parameters: readonly WrittenParameter[];
}

/** The contract's text; undefined if it is not there. On the build server it must be. */
export function contractText(): string | undefined {
  try {
    return Deno.readTextFileSync(CONTRACT);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound) || Deno.env.get("CI") === "true") throw error;
    console.log("skipped: the contract is not beside the repository (../shared/spec/interface.md)");
    return undefined;
  }
}

/** The operations of the contract's part 4, in the tables that name their parameters. */
export function writtenOperations(text: string): WrittenOperation[] {
  return tableRows(text, "| Operation | Parameters").flatMap(([names = "", parameters = ""]) =>
    operationNames(names).map((name) => ({ name, parameters: writtenParameters(parameters) }))
  );
}

/**
 * The methods and paths that the contract's part 4 states: by operation, such as `POST /ban` or
 * `/event/`.
 */
export function writtenPaths(text: string): [operation: string, path: string][] {
  return tableRows(text, "| Operation | Method and path shape").flatMap(([names = "", shape = ""]) => {
    const method = /^(GET|PUT|POST) /.exec(shape)?.[0] ?? "";
    const path = /`([^`{]+)/.exec(shape)?.[1] ?? "";
    return operationNames(names).map((name): [string, string] => [name, method + path]);
  });
}

/** The rows of all tables with a header that starts so, as cells. */
function tableRows(text: string, header: string): string[][] {
  const part4 = text.slice(text.indexOf("\n## 4."), text.indexOf("\n## 5."));
  return part4.split("\n\n").filter((block) => block.startsWith(header)).flatMap((block) =>
    block.split("\n").slice(2).filter((line) => line.startsWith("|")).map((line) =>
      line.split("|").slice(1, -1).map((cell) => cell.trim())
    )
  );
}

function operationNames(cell: string): string[] {
  const names = [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
  return names.length > 0 ? names : [cell];
}

/**
 * Cuts `room_id, reason (str, empty), html?` into parameters; words about further arguments are no
 * parameters.
 */
function writtenParameters(cell: string): WrittenParameter[] {
  if (cell === "none") return [];
  return cell.split(/,(?![^(]*\))/).flatMap((part) => {
    const [, name, mark, about = ""] = /^\s*([a-z][a-z0-9_]*)(\?)?(?:\s*\((.*)\))?\s*$/.exec(part) ?? [];
    if (name === undefined || name === "kwargs") return [];
    const word = /, `?([\w.]+)`?$/.exec(about)?.[1];
    if (word !== undefined) return [{ name, default: word }];
    const optional = mark === "?" || /\?(,|$)/.test(about) || name === "extra_content";
    return [optional ? { name, default: "none" } : { name }];
  });
}
