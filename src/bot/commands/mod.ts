/**
 * Commands: their patterns, arguments and descriptions.
 *
 * @module
 */

export type { ArgumentType, ArgumentTypes } from "./argument_types.ts";
export {
  type Arguments,
  argumentsOf,
  chosenOf,
  type Command,
  hiddenNames,
  type Invocation,
  invocationOf,
  isPartOf,
  type Parameter,
  parsePattern,
} from "./command.ts";
export { helpText, usageOf } from "./help.ts";
export type {
  Args,
  ArgumentResult,
  ArgumentSchema,
  ArgumentSchemaProperties,
  ArgumentValue,
  Asking,
  BareName,
  CommandOptions,
  FlagNames,
  OptionalNames,
  RequiredNames,
  Schemas,
} from "./pattern.ts";
export { PillText } from "./pills.ts";
export {
  type ArgumentDescription,
  type ArgumentKind,
  COMMAND_DESCRIPTION,
  type CommandDescription,
  type CommandState,
  describeCommand,
  readStructuredCommand,
  type StructuredCommand,
} from "./structured.ts";
