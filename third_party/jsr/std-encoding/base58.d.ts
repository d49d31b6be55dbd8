export function encodeBase58(data: ArrayBuffer | Uint8Array | string): string;
export function decodeBase58(b58: string): Uint8Array;
