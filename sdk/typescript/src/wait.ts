// Waiting that can be ended.
import { setMaxListeners } from "node:events";

/** Pauses. It throws the reason of the signal when that ends first. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
  });
}

/** Ends with the first of several signals, or when its time is over. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #undo: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(signals: readonly (AbortSignal | undefined)[], ms: number, late: () => Error) {
    setMaxListeners(0, this.#controller.signal);
    for (const s of signals) {
      if (s !== undefined) {
        setMaxListeners(0, s); // any number of calls may end with one signal; Node would print a warning
      }
      if (s?.aborted) {
        this.#controller.abort(s.reason);
      }
      const stop = (): void => this.#controller.abort(s?.reason);
      s?.addEventListener("abort", stop, { once: true });
      this.#undo.push(() => s?.removeEventListener("abort", stop));
    }
    if (Number.isFinite(ms)) {
      this.#timer = setTimeout(() => this.#controller.abort(late()), Math.min(ms, 0x7fffffff));
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Goes on without the bound of time. */
  lift(): void {
    clearTimeout(this.#timer);
  }

  /** Lets go of the signals. */
  dispose(): void {
    this.lift();
    for (const undo of this.#undo.splice(0)) {
      undo();
    }
  }
}
