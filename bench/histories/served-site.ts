import type { History, Step } from './history.ts';

/**
 * How a site dates its pages. `honest`: each file by its last change. `deploy`: all files by the last deploy.
 * `dynamic`: no validators, and in each page the time and a number that never comes again.
 */
export type Variant = 'honest' | 'deploy' | 'dynamic';
export const VARIANTS: readonly Variant[] = ['honest', 'deploy', 'dynamic'];

export interface ServedFile {
  readonly body: Buffer;
  /** Seconds since the epoch. */
  readonly modified: number;
}

/** The files of one step after the other, as a server of files finds them on its disk. */
export class ServedSite {
  private readonly history: History;
  private readonly variant: Variant;
  private readonly modified = new Map<string, number>();
  private folders: ReadonlySet<string> = new Set();
  private step: Step | undefined;

  constructor(history: History, variant: Variant) {
    this.history = history;
    this.variant = variant;
  }

  /** Seconds since the epoch. */
  get time(): number {
    return this.step?.time ?? 0;
  }

  /** Goes on to a step; only what differs from the one before gets another date. */
  show(step: Step): void {
    const before = this.step;
    const isDeployed = before?.commit !== step.commit;
    for (const [file, body] of step.tree) {
      const isNew = before?.tree.get(file) !== body;
      if (this.variant === 'deploy' ? isNew || isDeployed : isNew) {
        this.modified.set(file, this.variant === 'deploy' ? step.deployed : (step.modified.get(file) as number));
      }
    }
    if (before?.tree !== step.tree) this.folders = foldersOf(step.tree.keys());
    this.step = step;
  }

  file(path: string): ServedFile | undefined {
    const body = this.step?.tree.get(path);
    if (body === undefined) return undefined;
    return { body: this.history.bodies[body] as Buffer, modified: this.modified.get(path) as number };
  }

  isFolder(path: string): boolean {
    return this.folders.has(path);
  }
}

/** All folders above the files, the root as the empty path. */
function foldersOf(files: Iterable<string>): Set<string> {
  const folders = new Set<string>(['']);
  for (const file of files) {
    for (let end = file.lastIndexOf('/'); end > 0; end = file.lastIndexOf('/', end - 1))
      folders.add(file.slice(0, end));
  }
  return folders;
}
