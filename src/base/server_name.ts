/**
 * Server names: a host, and maybe a port.
 *
 * @see {@link https://spec.matrix.org/v1.16/appendices/#server-name | Server name}
 * @module
 */

/** A DNS name or an IPv4 address, or an IPv6 address in brackets; and a port. */
const SERVER_NAME = /^([0-9A-Za-z.-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::(\d{1,5}))?$/;

const MAX_PORT = 65_535;

/** The parts of a server name. */
export interface ServerName {
  /** The host, an IPv6 address in its brackets. */
  readonly host: string;
  /** The port; undefined if the name has none. */
  readonly port: number | undefined;
}

/** Takes a server name apart; undefined if the grammar refuses it. */
export function parseServerName(name: string): ServerName | undefined {
  const [, host, digits] = SERVER_NAME.exec(name) ?? [];
  const port = digits === undefined ? undefined : Number(digits);
  if (host === undefined || (port ?? 0) > MAX_PORT) return undefined;
  if (host.startsWith("[") && !URL.canParse(`https://${host}`)) return undefined;
  return { host, port };
}
