import { createHash } from 'node:crypto';
import {
  constants,
  copyFileSync,
  createReadStream,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Report } from '../../../core/ports/crawl-db.ts';
import type { SegmentInfo } from '../../../core/ports/segment-store.ts';
import type { OnWork } from '../../../core/ports/work-progress.ts';
import { onFile } from '../durable-file.ts';
import { LOCK } from '../locks/folder-lock.ts';
import { readFrames } from '../segments/frame-log.ts';
import { ADDED, FETCH_LIST, FETCHED, INFO, isFinished, readMark, writeMark } from '../segments/segment-folder.ts';
import { isWarcName } from '../warc/warc-writer.ts';
import { type Salvaged, salvageSegment } from './salvage-segment.ts';
import { verifySegment } from './verify-segment.ts';

/**
 * Copies a folder recursively, before the folder is repaired.
 * @param isFixed names of files that are no longer written; they are linked if possible, which costs no space
 * @param wants names of files to copy; default: all
 */
function copyFolder(
  from: string,
  to: string,
  isFixed: (name: string) => boolean,
  wants: (name: string) => boolean = () => true,
): void {
  onFile(to, () => mkdirSync(to, { recursive: true }));
  for (const entry of onFile(from, () => readdirSync(from, { withFileTypes: true }))) {
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.isDirectory()) copyFolder(source, target, isFixed, wants);
    else if (entry.isFile() && wants(entry.name)) onFile(target, () => copyOrLink(source, target, isFixed(entry.name)));
  }
}

function copyOrLink(source: string, target: string, mayLink: boolean): void {
  if (mayLink) {
    try {
      linkSync(source, target);
      return;
    } catch {
      // Another file system, or one without hard links.
    }
  }
  copyFileSync(source, target, constants.COPYFILE_FICLONE);
}

export interface BackedUpFile {
  /** Relative, with `/`. */
  readonly path: string;
  readonly bytes: number;
  /** 64 hex digits. */
  readonly sha256: string;
}

/** Relative paths of the files below a folder, in order; none if there is no such folder. */
export function filesBelow(folder: string, prefix = ''): string[] {
  let entries: import('node:fs').Dirent[];
  try {
    entries = readdirSync(join(folder, prefix), { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  return entries
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
      return entry.isDirectory() ? filesBelow(folder, path) : entry.isFile() ? [path] : [];
    });
}

/**
 * The same in reverse order. Below the first level each file is looked up on demand. So for a segment that is being
 * written, the mark and the outcomes are copied before the responses that they point at, which may be newer than the
 * listing.
 */
export function* filesFromLast(folder: string, prefix: string): Generator<string> {
  const groups = new Set(filesBelow(folder, prefix).map((path) => path.split('/').slice(0, 2).join('/')));
  for (const group of [...groups].reverse()) {
    if (statSync(join(folder, group)).isFile()) yield group;
    else yield* lookedFor(() => filesBelow(folder, group));
  }
}

function* lookedFor(list: () => string[]): Generator<string> {
  let last: string | undefined;
  for (;;) {
    last = list().findLast((path) => last === undefined || path < last);
    if (last === undefined) return;
    yield last;
  }
}

/** Copies a file and digests the copy. */
export async function copyDigested(from: string, to: string, path: string): Promise<BackedUpFile> {
  const target = join(to, path);
  onFile(target, () => {
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(from, path), target, constants.COPYFILE_FICLONE);
  });
  return digestFile(to, path);
}

export async function digestFile(folder: string, path: string): Promise<BackedUpFile> {
  const file = join(folder, path);
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return { path, bytes: onFile(file, () => statSync(file).size), sha256: hash.digest('hex') };
}

/** Ids of the complete segments in a folder, oldest first. */
export function segmentIds(dir: string): string[] {
  if (!existsSync(dir)) return [];
  return onFile(dir, () => readdirSync(dir, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory() && isFinished(join(dir, entry.name)))
    .map(({ name }) => name)
    .sort();
}

/**
 * Whether a segment's folder has no mark. If the crawl db knows the segment, this is damage, not an unfinished start.
 */
export function isMarkless(dir: string, id: string): boolean {
  return existsSync(join(dir, id)) && !isFinished(join(dir, id));
}

/** Throws `segment-corrupt` for a folder without a readable mark. */
export function segmentInfo(folder: string): SegmentInfo {
  return readMark(folder).info;
}

/** Copies a finished segment under another id; the mark is written last. */
export function copySegment(from: string, to: string, id: string): void {
  const { info, synced } = readMark(from);
  copyFolder(from, to, isWarcName, (name) => name !== INFO && !name.startsWith(LOCK));
  writeMark(to, { info: { ...info, id }, synced });
}

/** Whether both folders hold the outcomes of the same round: then one is a copy of the other, whatever its id. */
export function isSameSegment(a: string, b: string): boolean {
  if (!isFinished(a) || !isFinished(b)) return false;
  const [one, other] = [readMark(a), readMark(b)];
  const isAlike =
    one.info.createdAt === other.info.createdAt &&
    one.info.urls === other.info.urls &&
    one.info.state === other.info.state &&
    one.synced.fetched === other.synced.fetched;
  return isAlike && haveEqualFrames(join(a, FETCHED), join(b, FETCHED));
}

function haveEqualFrames(a: string, b: string): boolean {
  const [one, other] = [readFrames(a), readFrames(b)];
  for (;;) {
    const [left, right] = [one.next(), other.next()];
    if (left.done || right.done) return left.done === right.done;
    if (left.value.index !== right.value.index || !left.value.payload.equals(right.value.payload)) {
      one.return(undefined);
      other.return(undefined);
      return false;
    }
  }
}

/** Verifies all segments in a folder; returns those with a readable mark. */
export async function verifySegments(
  dir: string,
  deep: boolean,
  report: Report,
  onWork?: OnWork,
): Promise<SegmentInfo[]> {
  const infos: SegmentInfo[] = [];
  const ids = segmentIds(dir);
  for (const [done, id] of ids.entries()) {
    onWork?.({ work: 'checking segments', done, total: ids.length });
    const info = await verifySegment(join(dir, id), id, deep, report);
    if (info !== null) infos.push(info);
  }
  return infos;
}

interface RepairedSegment {
  readonly id: string;
  /** `null`: the whole segment was moved to the quarantine. */
  readonly salvaged: Salvaged | null;
}

/**
 * Repairs the findings of {@link verifySegments}. A copy of each changed segment goes to the quarantine first.
 * @param appliedOf number of fetched records of a segment that updatedb has applied so far
 * @param known ids of the segments that the crawl db knows
 */
export async function repairSegments(
  dir: string,
  quarantine: string,
  options: {
    readonly deep: boolean;
    readonly appliedOf: (id: string) => number;
    readonly known: readonly string[];
    readonly report: Report;
  },
): Promise<RepairedSegment[]> {
  const repaired: RepairedSegment[] = [];
  const moveAside = (id: string): void => {
    onFile(join(quarantine, 'segments', id), () => {
      mkdirSync(join(quarantine, 'segments'), { recursive: true });
      renameSync(join(dir, id), join(quarantine, 'segments', id));
    });
    repaired.push({ id, salvaged: null });
  };
  for (const id of options.known) if (isMarkless(dir, id)) moveAside(id);
  for (const id of segmentIds(dir)) {
    const folder = join(dir, id);
    let isDamaged = false;
    let isListDamaged = false;
    const damagedWarc = new Set<string>();
    const info = await verifySegment(folder, id, options.deep, (finding) => {
      isDamaged = true;
      if (finding.kind === 'warc-damaged') damagedWarc.add(basename(finding.subject));
      if (finding.subject.endsWith(FETCH_LIST) || finding.subject.endsWith(ADDED)) isListDamaged = true;
      options.report(finding);
    });
    if (!isDamaged) continue;
    // Without its fetch list an unfinished segment cannot continue; its URLs become due again.
    if (info === null || isListDamaged) {
      moveAside(id);
      continue;
    }
    const copy = join(quarantine, 'segments', id);
    onFile(copy, () => mkdirSync(join(quarantine, 'segments'), { recursive: true }));
    // A file that is still written must not be shared with its copy.
    copyFolder(folder, copy, (name) => info.state === 'updated' && isWarcName(name));
    repaired.push({ id, salvaged: await salvageSegment(folder, options.appliedOf(id), damagedWarc) });
  }
  return repaired;
}
