export interface DelayOptions {
  signal?: AbortSignal;
  persistent?: boolean;
}
export function delay(ms: number, options?: DelayOptions): Promise<void>;
