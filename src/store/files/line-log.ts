import { createReadStream } from 'node:fs';
import { appendFile, mkdir, open, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Appends to a bounded log of JSON lines. At `maxBytes` the file becomes `FILE.1`, replacing the one before. For data
 * whose newest lines matter most; a line torn by a crash is skipped on reading.
 */
export function appendLine(file: string, value: unknown, maxBytes: number): Promise<void> {
  return appendLines(file, [value], maxBytes);
}

/** As {@link appendLine}, for several lines. */
export async function appendLines(file: string, values: readonly unknown[], maxBytes: number): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const size = await sizeOf(file);
  if (size >= maxBytes) await rename(file, `${file}.1`);
  const isTorn = size > 0 && size < maxBytes && !(await endsWhole(file, size));
  const lines = values.map((value) => `${JSON.stringify(value)}\n`);
  await appendFile(file, `${isTorn ? '\n' : ''}${lines.join('')}`);
}

const READ = { encoding: 'utf8', highWaterMark: 256 * 1024 } as const;

/**
 * All values of the log, oldest first, read line by line.
 * @param isWanted whether a text may contain a wanted value; called with one line or many, before they are parsed
 */
export async function* allLines(file: string, isWanted: (line: string) => boolean): AsyncGenerator<unknown> {
  for (const name of [`${file}.1`, file]) {
    if ((await sizeOf(name)) === 0) continue;
    let rest = '';
    // Not `node:readline`, which also breaks lines at characters that JSON strings may contain.
    for await (const part of createReadStream(name, READ) as AsyncIterable<string>) {
      const text = rest + part;
      const end = text.lastIndexOf('\n') + 1;
      const whole = text.slice(0, end);
      rest = text.slice(end);
      // Most blocks have no wanted value and need not be split into lines.
      if (!isWanted(whole)) continue;
      for (const line of whole.split('\n')) if (isWanted(line)) yield* parsed(line);
    }
    if (isWanted(rest)) yield* parsed(rest);
  }
}

/** The last `limit` values, oldest first, without lines that are not JSON. Reads at most `bytesPerLine` for each. */
export async function lastLines(file: string, limit: number, bytesPerLine: number): Promise<unknown[]> {
  const newest = await tailOf(file, limit, bytesPerLine);
  if (newest.length >= limit) return newest;
  return [...(await tailOf(`${file}.1`, limit - newest.length, bytesPerLine)), ...newest];
}

/** Wanted values in the last bytes of the file, oldest first. */
export async function linesInTail(
  file: string,
  bytes: number,
  isWanted: (line: string) => boolean,
): Promise<unknown[]> {
  return (await tailLines(file, bytes)).flatMap((line) => (isWanted(line) ? parsed(line) : []));
}

async function tailOf(file: string, limit: number, bytesPerLine: number): Promise<unknown[]> {
  return (await tailLines(file, limit * bytesPerLine)).flatMap(parsed).slice(-limit);
}

async function tailLines(file: string, bytes: number): Promise<string[]> {
  const size = await sizeOf(file);
  const length = Math.min(size, bytes);
  if (length === 0) return [];
  const handle = await open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, size - length);
    const lines = buffer.toString('utf8', 0, bytesRead).split('\n');
    // The first line may be the end of a longer one.
    if (length < size) lines.shift();
    return lines;
  } finally {
    await handle.close();
  }
}

function parsed(line: string): unknown[] {
  try {
    return line === '' ? [] : [JSON.parse(line)];
  } catch {
    return [];
  }
}

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}

async function endsWhole(file: string, size: number): Promise<boolean> {
  const handle = await open(file, 'r');
  try {
    const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
    return buffer[0] === 0x0a;
  } finally {
    await handle.close();
  }
}

/**
 * A log of `appendLine` for a viewer that follows it: values are read once and kept; later reads only read what was
 * appended.
 */
interface KeptLog<Value> {
  /** Oldest first. The list is the same object until the log grows. */
  values(): Promise<readonly Value[]>;
}

/** Identity of the file that was read, and the position reached, bytes. */
interface Mark {
  readonly ino: bigint;
  readonly end: number;
}

const LINE_END = 0x0a;

/**
 * @param pick the value to keep from a line; `null`: none
 * @param most number of values kept; the oldest are dropped
 */
export function keptLog<Value>(file: string, pick: (line: unknown) => Value | null, most: number): KeptLog<Value> {
  let values: readonly Value[] = [];
  let mark: Mark | null = null;
  let turn: Promise<unknown> = Promise.resolve();

  /** Reads the values of the whole lines from `start` on; returns where they end. */
  const readFrom = async (name: string, start: number, into: Value[]): Promise<number> => {
    let rest = Buffer.alloc(0);
    let end = start;
    for await (const part of createReadStream(name, { start }) as AsyncIterable<Buffer>) {
      const bytes = Buffer.concat([rest, part]);
      const whole = bytes.lastIndexOf(LINE_END) + 1;
      end += whole;
      rest = bytes.subarray(whole);
      for (const line of bytes.toString('utf8', 0, whole).split('\n')) {
        const value = parsedLine(line);
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
      // The file that was read has been renamed. Otherwise this is another log, as after a state directory was
      // restored.
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

function parsedLine(line: string): unknown {
  try {
    return line === '' ? undefined : JSON.parse(line);
  } catch {
    return undefined;
  }
}
