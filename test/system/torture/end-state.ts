import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { answered, asked } from './program.ts';
import type { Places, Task } from './tasks.ts';

/** What a crawl db says once nothing is due, without times and the order of visits. */
const FIELDS =
  'url,state,depth,seed,httpStatus,contentType,digest,signature,changeSignature,signatureName,title,failures,lang,target';

/** Records, counts of the feed and kept clusters of the states that the task leaves, and the files beside them. */
export async function endState(task: Task, places: Places): Promise<string> {
  const parts: string[] = [];
  for (const where of task.states?.(places) ?? [['--dir', places.dir]]) {
    parts.push(await asked(['readdb', '--dump', '--format', 'jsonl', '--fields', FIELDS, ...where]));
    parts.push(await asked(['readdb', '--stats', '--json', ...where]).then(countsOf));
    const changes = await asked(['changes', '--since', '0', '--format', 'jsonl', ...where]);
    parts.push(changesOf(changes));
    parts.push(await asked(['duplicates', 'families', '--applied', '--format', 'jsonl', ...where]).then(withoutTimes));
  }
  parts.push(...(await filesOf(places)));
  return parts.join('\n');
}

/** What `verify` finds in a state directory, or nothing; a folder that holds no crawl yet is sound. */
export async function findings(dir: string): Promise<string> {
  const { code, stdout, stderr } = await answered(['state', 'verify', '--deep', '--dir', dir]);
  const isEmpty = code === 2 && stderr.includes('holds no crawl');
  return code === 0 || isEmpty ? '' : `verify ended with ${code}: ${stdout}${stderr}`;
}

function withoutTimes(lines: string): string {
  return lines.replaceAll(/"appliedAt":"[^"]*",?/g, '');
}

function countsOf(stats: string): string {
  const { urls, due, leased, byStatus } = JSON.parse(stats) as Record<string, unknown>;
  return JSON.stringify({ urls, due, leased, byStatus });
}

/** Entries by number must have no gap and no repetition; by URL and kind they are compared. */
function changesOf(lines: string): string {
  const entries = lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { seq: number; url: string; kind?: string; change?: string });
  const gap = entries.findIndex(({ seq }, i) => i > 0 && seq !== (entries[i - 1]?.seq ?? 0) + 1);
  const kinds = entries.map(({ url, kind, change }) => `${url} ${kind ?? change}`).sort();
  return `${gap < 0 ? '' : `gap in the feed before entry ${gap}\n`}${kinds.join('\n')}`;
}

async function filesOf({ folder, dir }: Places): Promise<string[]> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = files
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.startsWith(`${dir}/`))
    // Crawl dbs differ in their files; a backup says when it was made, and checks itself.
    .filter((path) => !/\/(db|segments|reports)\/|\/backup\.json$/.test(path));
  const digests = paths.sort().map(async (path) => {
    const digest = createHash('sha1')
      .update(await readFile(path))
      .digest('hex');
    return `${path.slice(folder.length)} ${digest}`;
  });
  return Promise.all(digests);
}
