export function concat(buffers: readonly Uint8Array[]): Uint8Array<ArrayBuffer>;
