import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';

/** A log of `appendLine` as a viewer follows it: what was read once is kept, and later reads take what was appended. */
export interface KeptLog<Value> {
  /** Oldest first. The list is the same object until the log grows. */
  values(): Promise<readonly Value[]>;
}

/** Identity of the file that was read, and how far, bytes. */
interface Mark {
  readonly ino: bigint;
  readonly end: number;
}

const LINE_END = 0x0a;

/**
 * @param pick the value to keep of a line; `null`: none
 * @param most values kept; the oldest go first
 */
export function keptLog<Value>(file: string, pick: (line: unknown) => Value | null, most: number): KeptLog<Value> {
  let values: readonly Value[] = [];
  let mark: Mark | null = null;
  let turn: Promise<unknown> = Promise.resolve();

  /** Values of the whole lines from `start` on, and where they end. */
  const readFrom = async (name: string, start: number, into: Value[]): Promise<number> => {
    let rest = Buffer.alloc(0);
    let end = start;
    for await (const part of createReadStream(name, { start }) as AsyncIterable<Buffer>) {
      const bytes = Buffer.concat([rest, part]);
      const whole = bytes.lastIndexOf(LINE_END) + 1;
      end += whole;
      rest = bytes.subarray(whole);
      for (const line of bytes.toString('utf8', 0, whole).split('\n')) {
        const value = parsed(line);
        const kept = value === undefined ? null : pick(value);
        if (kept !== null) into.push(kept);
      }
    }
    return end;
  };

  const update = async (): Promise<readonly Value[]> => {
    const current = await identityOf(file);
    if (current !== null && mark?.ino === current.ino && mark.end === current.size) return values;
    const more: Value[] = [];
    let kept = values;
    let start = 0;
    if (mark !== null && mark.ino === current?.ino && current.size >= mark.end) start = mark.end;
    else {
      const before = await identityOf(`${file}.1`);
      // The file that was read has been renamed; otherwise this is another log, of a state directory put back in place.
      const isRenamed = mark !== null && before?.ino === mark.ino && before.size >= mark.end;
      if (!isRenamed) kept = [];
      if (before !== null) await readFrom(`${file}.1`, isRenamed ? (mark?.end ?? 0) : 0, more);
    }
    mark = current === null ? null : { ino: current.ino, end: await readFrom(file, start, more) };
    if (more.length > 0 || kept !== values) values = [...kept, ...more].slice(-most);
    return values;
  };

  return {
    values() {
      const reading = turn.then(update);
      turn = reading.catch(() => {});
      return reading;
    },
  };
}

async function identityOf(file: string): Promise<{ readonly ino: bigint; readonly size: number } | null> {
  try {
    const { ino, size } = await stat(file, { bigint: true });
    return { ino, size: Number(size) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function parsed(line: string): unknown {
  try {
    return line === '' ? undefined : JSON.parse(line);
  } catch {
    return undefined;
  }
}
