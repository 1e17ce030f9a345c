/**
 * Runs at most so many tasks at a time; `add` resolves when the task has been *admitted*, which holds the caller back.
 */
export class TaskWindow {
  private running = 0;
  private readonly limit: number;
  private fault: unknown = null;
  /** Callers that wait for a place, in order. Waiting for the tasks themselves would cost a promise for each. */
  private readonly waiting: (() => void)[] = [];
  private whenIdle: (() => void) | null = null;

  constructor(limit: number) {
    this.limit = limit;
  }

  async add(task: () => Promise<void>): Promise<void> {
    while (this.running >= this.limit) await new Promise<void>((resolve) => this.waiting.push(resolve));
    if (this.fault !== null) throw this.fault;
    this.running++;
    void this.run(task);
  }

  async drained(): Promise<void> {
    while (this.running > 0) {
      await new Promise<void>((resolve) => {
        this.whenIdle = resolve;
      });
    }
    if (this.fault !== null) throw this.fault;
  }

  private async run(task: () => Promise<void>): Promise<void> {
    try {
      await task();
    } catch (error) {
      this.fault ??= error;
    }
    this.running--;
    this.waiting.shift()?.();
    if (this.running === 0) this.whenIdle?.();
  }
}
