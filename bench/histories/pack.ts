import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type History, linkKey, type Step } from './history.ts';

const STEPS = 'steps.jsonl.gz';
const LINKS = 'links.jsonl.gz';
const DAY_S = 86_400;

/** A line of the steps: what differs from the step before. */
export interface PackedStep {
  readonly time: number;
  readonly deployed: number;
  readonly commit: string;
  /** Number of the body and time of modification of each file that is new or changed. */
  readonly put: Readonly<Record<string, readonly [number, number]>>;
  readonly removed: readonly string[];
  readonly reached: readonly string[];
  readonly unreached: readonly string[];
}

/** Path, number of the body, paths linked. */
export type PackedLinks = readonly [string, number, readonly string[]];

/** The folders of packs in a folder, or the folder itself where it is a pack. */
export function packsIn(data: string): string[] {
  if (!existsSync(data)) throw new Error(`--data ${data}: expected a folder of histories, there is none`);
  if (existsSync(join(data, STEPS))) return [data];
  const folders = readdirSync(data)
    .sort()
    .map((name) => join(data, name))
    .filter((folder) => existsSync(join(folder, STEPS)));
  if (folders.length > 0) return folders;
  throw new Error(`--data ${data}: expected folders with ${STEPS}, ${LINKS} and bodies.xz; none has ${STEPS}`);
}

/** Reads a history; throws where a part is missing. */
export function readPack(folder: string): History {
  for (const part of [STEPS, LINKS]) {
    if (!existsSync(join(folder, part))) throw new Error(`${folder} is no pack of a history: it has no ${part}`);
  }
  const steps = linesOf<PackedStep>(join(folder, STEPS));
  const links = linesOf<PackedLinks>(join(folder, LINKS));
  return unpacked(basename(folder), steps, splitBodies(readBodies(folder)), links);
}

/** The history that lines of a pack tell. */
export function unpacked(
  name: string,
  rows: readonly PackedStep[],
  bodies: readonly Buffer[],
  links: readonly PackedLinks[],
): History {
  const steps: Step[] = [];
  let tree: ReadonlyMap<string, number> = new Map();
  let modified: ReadonlyMap<string, number> = new Map();
  let reached: ReadonlySet<string> = new Set();
  for (const row of rows) {
    const put = Object.entries(row.put);
    if (put.length > 0 || row.removed.length > 0) {
      const removed = new Set(row.removed);
      const kept = <T>(map: ReadonlyMap<string, T>) => [...map].filter(([file]) => !removed.has(file));
      tree = new Map([...kept(tree), ...put.map(([file, [body]]) => [file, body] as const)]);
      modified = new Map([...kept(modified), ...put.map(([file, [, at]]) => [file, at] as const)]);
    }
    const unreached = new Set(row.unreached);
    reached = new Set([...reached, ...row.reached].filter((file) => !unreached.has(file)));
    steps.push({ time: row.time, deployed: row.deployed, commit: row.commit, tree, modified, reached });
  }
  const [first, last] = [steps[0], steps.at(-1)];
  if (first === undefined || last === undefined) throw new Error(`the history of ${name} has no steps`);
  const daysPerStep = steps.length === 1 ? 1 : (last.time - first.time) / (steps.length - 1) / DAY_S;
  const byFile = new Map(links.map(([file, body, targets]) => [linkKey(file, body), targets]));
  return { name, daysPerStep: Math.max(1, Math.round(daysPerStep)), steps, bodies, links: byFile };
}

function linesOf<T>(file: string): T[] {
  const text = gunzipSync(readFileSync(file)).toString('utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}

/** All bodies behind their lengths, from `bodies.gz` or by the program xz from `bodies.xz`. */
function readBodies(folder: string): Buffer {
  if (existsSync(join(folder, 'bodies.gz'))) return gunzipSync(readFileSync(join(folder, 'bodies.gz')));
  const file = join(folder, 'bodies.xz');
  if (!existsSync(file)) throw new Error(`${folder} is no pack of a history: it has neither bodies.xz nor bodies.gz`);
  const { error, status, stdout, stderr } = spawnSync('xz', ['-dc', file], { maxBuffer: Number.POSITIVE_INFINITY });
  if (error !== undefined && 'code' in error && error.code === 'ENOENT') {
    throw new Error(`${file} is read by the program xz, which is not installed (package xz-utils or xz)`);
  }
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`xz cannot read ${file}: ${stderr.toString().trim()}`);
  return stdout;
}

/** Bodies 0, 1, .., each behind its length in four bytes, the highest first. */
function splitBodies(bytes: Buffer): Buffer[] {
  const bodies: Buffer[] = [];
  for (let at = 0; at + 4 <= bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) throw new Error(`body ${bodies.length} ends behind the end of the bodies`);
    bodies.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return bodies;
}
