/**
 * A registry on loopback that has Greenroom as JSR would, behind a link that takes its time: each answer
 * comes a round trip after its request. What is of npm it asks the registry of npm for, beforehand.
 *
 * @module
 */

import { createHash } from "node:crypto";
import ts from "typescript";
import { delay } from "@std/async/delay";

/** A package as it would be published. */
export interface Package {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, string>>;
  /** Its files, by their paths. */
  readonly files: ReadonlyMap<string, string>;
}

/** What was asked for, and how much of it. */
export interface Traffic {
  requests: number;
  bytes: number;
}

/** Serves packages, each answer after a round trip. */
export class SlowRegistry implements AsyncDisposable {
  readonly jsr: Traffic = { requests: 0, bytes: 0 };
  readonly npm: Traffic = { requests: 0, bytes: 0 };
  readonly #roundTrip: number;
  readonly #answers = new Map<string, string>();
  readonly #kept: Map<string, Uint8Array<ArrayBuffer>>;
  readonly #upstream: string;
  readonly #servers: Deno.HttpServer<Deno.NetAddr>[];

  /**
   * @param packages What it has.
   * @param options.roundTrip In milliseconds.
   * @param options.upstream The registry of npm.
   * @param options.kept What that has answered before.
   */
  constructor(
    packages: readonly Package[],
    { roundTrip, upstream, kept }: {
      readonly roundTrip: number;
      readonly upstream: string;
      readonly kept: Map<string, Uint8Array<ArrayBuffer>>;
    },
  ) {
    this.#roundTrip = roundTrip;
    this.#upstream = upstream;
    this.#kept = kept;
    for (const each of packages) this.#publish(each);
    const options = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
    this.#servers = [
      Deno.serve(options, ({ url }) => this.#jsr(new URL(url).pathname)),
      Deno.serve(options, (request) => this.#npm(request)),
    ];
  }

  /** What tells Deno of it. */
  get env(): Record<string, string> {
    const [jsr, npm] = this.#servers.map(({ addr }) => `http://127.0.0.1:${addr.port}/`);
    return { JSR_URL: jsr ?? "", NPM_CONFIG_REGISTRY: npm ?? "" };
  }

  #publish({ name, version, exports, files }: Package): void {
    const manifest: Record<string, object> = {};
    const graph: Record<string, object> = {};
    for (const [path, text] of files) {
      this.#answers.set(`/${name}/${version}/${path}`, text);
      const checksum = `sha256-${createHash("sha256").update(text).digest("hex")}`;
      manifest[`/${path}`] = { size: new TextEncoder().encode(text).length, checksum };
      if (!/\.[jt]s$/.test(path)) continue;
      const types = /^\/\* @ts-self-types="(.*?)" \*\//.exec(text)?.[1];
      const selfTypesSpecifier = types === undefined ? undefined : { text: types, range: RANGE };
      graph[`/${path}`] = { dependencies: dependenciesOf(text), selfTypesSpecifier };
    }
    const meta = { exports, manifest, moduleGraph2: graph };
    this.#answers.set(`/${name}/meta.json`, JSON.stringify({ latest: version, versions: { [version]: {} } }));
    this.#answers.set(`/${name}/${version}_meta.json`, JSON.stringify(meta));
  }

  async #jsr(path: string): Promise<Response> {
    await delay(this.#roundTrip);
    const text = this.#answers.get(decodeURIComponent(path));
    if (text === undefined) return new Response(null, { status: 404 });
    return answered(this.jsr, new TextEncoder().encode(text));
  }

  async #npm({ url, headers }: Request): Promise<Response> {
    const path = new URL(url).pathname.slice(1);
    const accept = headers.get("accept") ?? "*/*"; // it asks for the short form of a package's versions
    let bytes = this.#kept.get(path + accept);
    if (bytes === undefined) {
      bytes = await (await fetch(`${this.#upstream}${path}`, { headers: { accept } })).bytes();
      this.#kept.set(path + accept, bytes);
    }
    await delay(this.#roundTrip);
    if (path.endsWith(".tgz")) return answered(this.npm, bytes);
    const own = new TextDecoder().decode(bytes).replaceAll(
      this.#upstream,
      this.env.NPM_CONFIG_REGISTRY ?? "",
    );
    return answered(this.npm, new TextEncoder().encode(own));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.shutdown()));
  }
}

function answered(traffic: Traffic, bytes: Uint8Array<ArrayBuffer>): Response {
  traffic.requests++;
  traffic.bytes += bytes.length;
  return new Response(bytes);
}

const RANGE = [[0, 0], [0, 0]];

/**
 * What a module imports, as JSR says it beforehand, so that nobody waits for one file to ask for the next.
 */
function dependenciesOf(text: string): object[] {
  const found: object[] = [];
  const add = (
    specifier: ts.Expression | undefined,
    kind: string,
    isType: boolean | undefined,
    json?: boolean,
  ) => {
    if (specifier === undefined || !ts.isStringLiteral(specifier)) return;
    found.push({
      ...{
        type: "static",
        kind: isType ? `${kind}Type` : kind,
        specifier: specifier.text,
        specifierRange: RANGE,
      },
      ...json ? { importAttributes: { known: { type: "json" } } } : {},
    });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      add(node.moduleSpecifier, "import", node.importClause?.isTypeOnly, node.attributes !== undefined);
    } else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, "export", node.isTypeOnly);
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [argument] = node.arguments;
      if (argument !== undefined && ts.isStringLiteral(argument)) {
        found.push({ type: "dynamic", argument: argument.text, argumentRange: RANGE });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("module.ts", text, ts.ScriptTarget.ESNext));
  return found;
}
