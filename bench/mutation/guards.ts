/**
 * Finds the guards of a source, and makes each a switch.
 *
 * A guard is what decides: a condition, each operand of it, a comparison, a predicate, a bound
 * (`Math.min`, `slice(0, n)`), a listed name, a call that checks, a refusal among other statements.
 * Of the ways to break one only those are tried that no other implies: of `a && b` that `a` does
 * not count, that `b` does not, and that the whole never holds.
 *
 * @module
 */

import ts from "typescript";
import {
  conditionOf,
  decides,
  isCheck,
  isListed,
  isLogical,
  isLoop,
  isRefusal,
  namesAround,
} from "./syntax.ts";
import type { Mutant } from "./types.ts";

/** A source with switches. */
export interface Planted {
  /** The instrumented source, without the import of the switch. */
  readonly text: string;
  /** Its mutants, numbered from the given number on. */
  readonly mutants: readonly Mutant[];
  /** How many guards they are made of. */
  readonly guards: number;
}

/** What an expression may be replaced by. */
interface Ways {
  readonly true: boolean;
  readonly false: boolean;
}

/**
 * What is put in at a place. Of several at one place, what closes comes first; what is around opens
 * first, closes last.
 */
interface Edit {
  readonly at: number;
  readonly end: number;
  readonly text: string;
  readonly rank: number;
}

const ORDER: Readonly<Partial<Record<ts.SyntaxKind, { readonly name: string; readonly change: string }>>> = {
  [ts.SyntaxKind.LessThanToken]: { name: "lt", change: "<=" },
  [ts.SyntaxKind.LessThanEqualsToken]: { name: "le", change: "<" },
  [ts.SyntaxKind.GreaterThanToken]: { name: "gt", change: ">=" },
  [ts.SyntaxKind.GreaterThanEqualsToken]: { name: "ge", change: ">" },
};

const WITH_PARENTS = true;
const BOTH: Ways = { true: true, false: true };

/**
 * Plants the mutants of a source.
 *
 * @param path Its path from the repository's folder on.
 * @param firstId The number of its first mutant.
 */
export function plant(path: string, text: string, firstId: number): Planted {
  const source = ts.createSourceFile(path, text, { languageVersion: ts.ScriptTarget.Latest }, WITH_PARENTS);
  const planter = new Planter(source, firstId);
  planter.visit(source);
  return planter.planted();
}

class Planter {
  readonly #source: ts.SourceFile;
  readonly #edits: Edit[] = [];
  readonly #mutants: Mutant[] = [];
  readonly #keys = new Map<string, number>();
  readonly #firstId: number;
  #guards = 0;
  #rank = 0;

  constructor(source: ts.SourceFile, firstId: number) {
    this.#source = source;
    this.#firstId = firstId;
  }

  planted(): Planted {
    const edits = this.#edits.toSorted((a, b) => a.at - b.at || a.rank - b.rank);
    let text = "";
    let at = 0;
    for (const edit of edits) {
      text += this.#source.text.slice(at, edit.at) + edit.text;
      at = edit.end;
    }
    return { text: text + this.#source.text.slice(at), mutants: this.#mutants, guards: this.#guards };
  }

  visit(node: ts.Node): void {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    const condition = conditionOf(node);
    if (condition !== undefined) {
      this.#guards++;
      this.#condition(condition, isLoop(node) ? { true: false, false: true } : BOTH);
      ts.forEachChild(node, (child) => child === condition ? undefined : this.visit(child));
      return;
    }
    if (decides(node)) {
      this.#guards++;
      this.#condition(node, BOTH);
      return;
    }
    this.#bound(node);
    this.#list(node);
    this.#statement(node);
    ts.forEachChild(node, (child) => this.visit(child));
  }

  /** An expression of which only counts whether it holds. */
  #condition(node: ts.Expression, ways: Ways): void {
    let inner = node;
    while (ts.isParenthesizedExpression(inner)) inner = inner.expression;
    if (ts.isPrefixUnaryExpression(inner) && inner.operator === ts.SyntaxKind.ExclamationToken) {
      this.#condition(inner.operand, { true: ways.false, false: ways.true });
    } else if (isLogical(inner, ts.SyntaxKind.AmpersandAmpersandToken)) {
      this.#choose(inner, { true: false, false: ways.false });
      this.#condition(inner.left, { true: true, false: false });
      this.#condition(inner.right, { true: true, false: false });
    } else if (isLogical(inner, ts.SyntaxKind.BarBarToken)) {
      this.#choose(inner, { true: ways.true, false: false });
      this.#condition(inner.left, { true: false, false: true });
      this.#condition(inner.right, { true: false, false: true });
    } else {
      this.#leaf(inner, ways);
    }
  }

  #leaf(node: ts.Expression, ways: Ways): void {
    if (node.kind === ts.SyntaxKind.TrueKeyword || node.kind === ts.SyntaxKind.FalseKeyword) return;
    this.#choose(node, ways);
    if (ts.isBinaryExpression(node)) {
      const order = ORDER[node.operatorToken.kind];
      if (order !== undefined) {
        const id = this.#mutant(node, order.change);
        const { operatorToken } = node;
        this.#around(node, `__m.${order.name}(${id}, `, ")");
        this.#edits.push({ at: operatorToken.getStart(), end: operatorToken.end, text: ",", rank: 0 });
      }
      this.visit(node.left);
      this.visit(node.right);
    } else {
      ts.forEachChild(node, (child) => this.visit(child));
    }
  }

  #choose(node: ts.Expression, ways: Ways): void {
    const whereTrue = ways.true ? this.#mutant(node, "true") : 0;
    const whereFalse = ways.false ? this.#mutant(node, "false") : 0;
    const choices = [
      ...(ways.true ? [`__m.is(${whereTrue}) ? true : `] : []),
      ...(ways.false ? [`__m.is(${whereFalse}) ? false : `] : []),
    ];
    if (choices.length === 0) return;
    this.#around(node, `(${choices.join("")}__m.seen(${whereTrue}, ${whereFalse}, `, "))");
  }

  /** What keeps a number or a length within a limit. */
  #bound(node: ts.Node): void {
    if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return;
    const { expression, arguments: args } = node;
    const [first, second] = args;
    if (first === undefined || second === undefined || args.length !== 2 || args.some(ts.isSpreadElement)) {
      return;
    }
    const callee = /^Math\.(min|max)$/.exec(expression.getText())?.[1];
    if (callee !== undefined) {
      this.#guards++;
      const id = this.#mutant(node, "its first argument");
      this.#mutant(node, "its second argument");
      this.#edits.push({
        at: expression.getStart(),
        end: first.getStart(),
        text: `__m.${callee}(${id}, `,
        rank: ++this.#rank,
      });
    } else if (expression.name.text === "slice" && first.getText() === "0") {
      this.#guards++;
      this.#around(second, `__m.m(${this.#mutant(node, "all of it")}) ? undefined : (`, ")");
    }
  }

  /** Names that are listed because they count. */
  #list(node: ts.Node): void {
    if (!ts.isArrayLiteralExpression(node) || !isListed(node)) return;
    this.#guards++;
    for (const element of node.elements) {
      if (ts.isSpreadElement(element)) continue;
      this.#around(element, `...(__m.m(${this.#mutant(element, "not listed")}) ? [] : [`, "])");
    }
  }

  /** A refusal that is not all that its condition decides, or a call that may refuse. */
  #statement(node: ts.Node): void {
    if (!isRefusal(node) && !isCheck(node)) return;
    this.#guards++;
    const at = node.getStart();
    this.#edits.push({
      at,
      end: at,
      text: `if (!__m.m(${this.#mutant(node, "removed")})) `,
      rank: ++this.#rank,
    });
  }

  #around(node: ts.Node, opening: string, closing: string): void {
    const rank = ++this.#rank;
    this.#edits.push({ at: node.getStart(), end: node.getStart(), text: opening, rank });
    this.#edits.push({ at: node.end, end: node.end, text: closing, rank: -rank });
  }

  #mutant(node: ts.Node, change: string): number {
    const { fileName: path } = this.#source;
    const code = node.getText().replaceAll(/\s+/g, " ").slice(0, 200);
    const within = namesAround(node);
    const alike = `${path} ${within}: ${code} -> ${change}`;
    const count = (this.#keys.get(alike) ?? 0) + 1;
    this.#keys.set(alike, count);
    const line = this.#source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
    const id = this.#firstId + this.#mutants.length;
    const key = count === 1 ? alike : `${alike} #${count}`;
    this.#mutants.push({ id, path, line, within, code, change, key });
    return id;
  }
}
