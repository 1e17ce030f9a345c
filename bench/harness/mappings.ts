/** Resident memory of a process by what took it, as `/proc/PID/smaps` of Linux tells it. */

/** MB. Kinds that no system call tells apart are told apart by how glibc and V8 place their mappings. */
export interface MemoryByKind {
  /** Heaps and code of V8, of all threads: mappings that begin at a multiple of 256 KiB, the size of its pages. */
  readonly v8: number;
  /** The program break and the arenas of glibc, which begin at a multiple of 64 MiB. */
  readonly malloc: number;
  /** Stacks, and what is too large for an arena: buffers, caches of LevelDB. */
  readonly other: number;
  /** Mapped files: programs, libraries, tables of LevelDB. The system takes these pages back at need. */
  readonly files: number;
}

interface Mapping {
  readonly start: number;
  readonly end: number;
  readonly path: string;
  readonly rssKb: number;
}

const ARENA = 64 * 2 ** 20;
const V8_PAGE = 256 * 2 ** 10;
const HEADER = /^([\da-f]+)-([\da-f]+) [rwxsp-]{4} [\da-f]+ [\da-f]+:[\da-f]+ \d+ *(.*)$/;

export function memoryByKind(smaps: string): MemoryByKind {
  const kb = { v8: 0, malloc: 0, other: 0, files: 0 };
  let arenaEnd = 0;
  for (const { start, end, path, rssKb } of mappingsOf(smaps)) {
    // An arena is a mapping that can be used and one that cannot yet, together 64 MiB.
    if (path === '' && start % ARENA === 0) arenaEnd = start + ARENA;
    if (path.startsWith('/')) kb.files += rssKb;
    else if (path === '[heap]' || (path === '' && end <= arenaEnd)) kb.malloc += rssKb;
    else if (path === '' && start % V8_PAGE === 0) kb.v8 += rssKb;
    else kb.other += rssKb;
  }
  return { v8: kb.v8 / 1_024, malloc: kb.malloc / 1_024, other: kb.other / 1_024, files: kb.files / 1_024 };
}

/** Without mapped files, MB. */
export const ownOf = ({ v8, malloc, other }: MemoryByKind): number => v8 + malloc + other;

function* mappingsOf(smaps: string): Iterable<Mapping> {
  let header: Omit<Mapping, 'rssKb'> | null = null;
  for (const line of smaps.split('\n')) {
    const found = HEADER.exec(line);
    if (found !== null) {
      const [, start = '', end = '', path = ''] = found;
      header = { start: Number.parseInt(start, 16), end: Number.parseInt(end, 16), path };
    } else if (header !== null && line.startsWith('Rss:')) {
      yield { ...header, rssKb: Number.parseInt(line.slice(4), 10) };
      header = null;
    }
  }
}
