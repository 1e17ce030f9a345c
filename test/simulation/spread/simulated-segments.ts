import { CrawlError } from '../../../src/core/domain/errors.ts';
import type { Segment, SegmentStore } from '../../../src/core/ports/segment-store.ts';
import { createMemorySegmentStore } from '../../memory/segment-store.ts';
import type { WorkerLife } from './worker-life.ts';

/** The segments of one partition, on a disk that all workers share. A lock ends with its worker. */
export class SimulatedSegments {
  readonly #store = createMemorySegmentStore();
  readonly #writers = new Map<string, { readonly life: WorkerLife; readonly segment: Segment; isOpen(): boolean }>();

  /** As one worker uses them. */
  of(life: WorkerLife): SegmentStore {
    const open = async (id: string, mode: 'read' | 'write'): Promise<Segment> => {
      if (mode === 'read') return gated(await this.#store.open(id, mode), life, () => {});
      const writer = this.#writers.get(id);
      if (writer !== undefined && writer.life !== life) {
        if (writer.life.isRunning && writer.isOpen())
          throw new CrawlError('db-locked', 'another worker writes the segment');
        await writer.segment.close();
      }
      const segment = await this.#store.open(id, mode);
      let isOpen = true;
      const close = segment.close.bind(segment);
      segment.close = async () => {
        isOpen = false;
        await close();
      };
      this.#writers.set(id, { life, segment, isOpen: () => isOpen });
      return gated(segment, life, () => {
        if (this.#writers.get(id)?.segment !== segment)
          throw new CrawlError('lease-lost', 'the segment was taken over');
      });
    };
    return gated({ ...this.#store, open }, life, () => {});
  }
}

/** The methods of an object, each of which waits until the worker runs. */
function gated<Part extends object>(part: Part, life: WorkerLife, require: () => void): Part {
  return new Proxy(part, {
    get(target, name) {
      const value = Reflect.get(target, name, target) as unknown;
      if (typeof value !== 'function') return value;
      const method = value.bind(target) as (...args: unknown[]) => unknown;
      if (!IS_ASYNC.has(String(name))) return method;
      return async (...args: unknown[]) => {
        await life.gate();
        if (name !== 'close') require();
        return method(...args);
      };
    },
  });
}

/** Those that return promises; others return iterables, or what is known at once. */
const IS_ASYNC: ReadonlySet<string> = new Set([
  'create',
  'open',
  'list',
  'remove',
  'addItems',
  'addFetched',
  'addParsed',
  'noteTurns',
  'setState',
  'close',
]);
