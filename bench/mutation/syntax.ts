/**
 * What of TypeScript's syntax is a guard.
 *
 * @module
 */

import ts from "typescript";

const LABELS = false;
const COMPARISONS: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.LessThanToken,
  ts.SyntaxKind.LessThanEqualsToken,
  ts.SyntaxKind.GreaterThanToken,
  ts.SyntaxKind.GreaterThanEqualsToken,
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
  ts.SyntaxKind.InstanceOfKeyword,
  ts.SyntaxKind.InKeyword,
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.BarBarToken,
]);

/** Methods whose callback says yes or no. */
const PREDICATES = /^(?:filter|some|every|find|findIndex|findLast|findLastIndex)$/;
/** Methods that are called on a list of what counts. */
const LISTS = /^(?:filter|some|every|find|includes|map|flatMap)$/;
/** Functions that throw when something is not as it must be. */
const CHECKS = /^#?(?:check|assert|require|refuse|verify|ensure|must|throwIf)/;

/** What decides whether, or how often, something is done. */
export function conditionOf(node: ts.Node): ts.Expression | undefined {
  if (ts.isIfStatement(node) || ts.isWhileStatement(node) || ts.isDoStatement(node)) return node.expression;
  if (ts.isConditionalExpression(node) || ts.isForStatement(node)) return node.condition;
  return undefined;
}

/** Whether something is done as often as its condition holds. */
export function isLoop(node: ts.Node): boolean {
  return ts.isForStatement(node) || ts.isWhileStatement(node) || ts.isDoStatement(node);
}

/** Whether an expression is one that says yes or no. */
export function decides(node: ts.Node): node is ts.Expression {
  if (ts.isBinaryExpression(node) && COMPARISONS.has(node.operatorToken.kind)) return true;
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) return true;
  const { parent } = node;
  if (parent === undefined || !ts.isExpression(node)) return false;
  if (ts.isReturnStatement(parent)) return saysYesOrNo(functionAround(parent));
  if (!ts.isArrowFunction(parent) || parent.body !== node) return false;
  return saysYesOrNo(parent) || isPredicate(parent);
}

function isPredicate(node: ts.ArrowFunction): boolean {
  const call = node.parent;
  return ts.isCallExpression(call) && call.arguments[0] === node &&
    ts.isPropertyAccessExpression(call.expression) && PREDICATES.test(call.expression.name.text);
}

function functionAround(node: ts.Node): ts.SignatureDeclaration | undefined {
  return ts.findAncestor(node, (parent) => ts.isFunctionLike(parent)) as ts.SignatureDeclaration | undefined;
}

function saysYesOrNo(node: ts.SignatureDeclaration | undefined): boolean {
  const type = node?.type;
  if (type === undefined) return false;
  return ts.isTypePredicateNode(type) || /^(?:boolean|Promise<boolean>)$/.test(type.getText());
}

/** Whether an expression is made of two by `&&`, or by `||`. */
export function isLogical(
  node: ts.Node,
  operator: ts.SyntaxKind.AmpersandAmpersandToken | ts.SyntaxKind.BarBarToken,
): node is ts.BinaryExpression {
  return ts.isBinaryExpression(node) && node.operatorToken.kind === operator;
}

/** Whether a list says what counts. */
export function isListed(node: ts.ArrayLiteralExpression): boolean {
  const { parent } = node;
  if (ts.isForOfStatement(parent)) return true;
  if (ts.isNewExpression(parent)) return /^(?:Set|Map)$/.test(parent.expression.getText());
  return ts.isPropertyAccessExpression(parent) && LISTS.test(parent.name.text);
}

/** Whether a statement leaves with nothing, after others that a condition decides about, too. */
export function isRefusal(node: ts.Node): boolean {
  if (ts.isThrowStatement(node)) return !isAllOfAnIf(node);
  const leaves = ts.isContinueStatement(node) || (ts.isReturnStatement(node) && isNothing(node.expression));
  return leaves && ts.isBlock(node.parent) && !isAllOfAnIf(node) &&
    !isLast(node, ts.isContinueStatement(node));
}

/** Whether nothing of the function, or of the loop around, comes after a statement. */
function isLast(node: ts.Node, ofLoop: boolean): boolean {
  const { parent } = node;
  if (ts.isFunctionLike(parent)) return true;
  if (ts.isIterationStatement(parent, LABELS)) return ofLoop;
  return (!ts.isBlock(parent) || parent.statements.at(-1) === node) && isLast(parent, ofLoop);
}

function isAllOfAnIf(node: ts.Node): boolean {
  const { parent } = node;
  return ts.isIfStatement(parent) ||
    (ts.isBlock(parent) && parent.statements.length === 1 && ts.isIfStatement(parent.parent));
}

function isNothing(node: ts.Expression | undefined): boolean {
  return node === undefined || /^(?:undefined|false|null|\[\])$/.test(node.getText());
}

/** Whether a statement is a call that throws when something is not as it must be. */
export function isCheck(node: ts.Node): boolean {
  if (!ts.isExpressionStatement(node)) return false;
  const call = ts.isAwaitExpression(node.expression) ? node.expression.expression : node.expression;
  if (!ts.isCallExpression(call)) return false;
  const callee = call.expression;
  return CHECKS.test(ts.isPropertyAccessExpression(callee) ? callee.name.text : callee.getText());
}

/** The classes, functions and variables around a node, from the outside in. */
export function namesAround(node: ts.Node): string {
  const names: string[] = [];
  for (let around = node.parent; around !== undefined; around = around.parent) {
    if (isNamed(around) && around.name !== undefined) names.unshift(around.name.getText());
    if (ts.isConstructorDeclaration(around)) names.unshift("constructor");
  }
  return names.join(".");
}

function isNamed(node: ts.Node): node is ts.NamedDeclaration {
  return ts.isClassDeclaration(node) || ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node) ||
    ts.isAccessor(node) || ts.isVariableDeclaration(node) || ts.isPropertyDeclaration(node);
}
