export function abortable<T>(p: Promise<T>, signal: AbortSignal): Promise<T>;
