import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type History, isPage } from '../../../bench/histories/history.ts';
import { type PackedLinks, type PackedStep, unpacked } from '../../../bench/histories/pack.ts';

/** Files of one moment by their paths. */
export type MadeTree = Readonly<Record<string, string>>;

export interface MadePack {
  readonly steps: readonly PackedStep[];
  readonly bodies: readonly Buffer[];
  readonly links: readonly PackedLinks[];
}

export const DAY_S = 86_400;
export const START_S = Date.UTC(2026, 0, 1) / 1_000;

/** A pack of these states, a day apart; what differs from the day before was deployed an hour before the run. */
export function madePack(trees: readonly MadeTree[]): MadePack {
  const bodies: Buffer[] = [];
  const numbers = new Map<string, number>();
  const numberOf = (text: string): number => {
    const known = numbers.get(text) ?? bodies.length;
    if (known === bodies.length) bodies.push(Buffer.from(text));
    numbers.set(text, known);
    return known;
  };
  const links = new Map<string, PackedLinks>();
  let [before, reachedBefore, deployed, commit]: [MadeTree, ReadonlySet<string>, number, number] = [
    {},
    new Set(),
    0,
    0,
  ];
  const steps = trees.map((tree, i) => {
    const time = START_S + i * DAY_S;
    const changed = Object.entries(tree).filter(([file, text]) => before[file] !== text);
    const removed = Object.keys(before).filter((file) => tree[file] === undefined);
    if (changed.length + removed.length > 0) [deployed, commit] = [time - 3_600, i];
    for (const [file, text] of changed) {
      links.set(`${file} ${numberOf(text)}`, [file, numberOf(text), linksOf(file, text)]);
    }
    const reached = reachedIn(tree);
    const step = {
      time,
      deployed,
      commit: String(commit),
      put: Object.fromEntries(changed.map(([file, text]) => [file, [numberOf(text), deployed] as const])),
      removed,
      reached: [...reached].filter((file) => !reachedBefore.has(file)),
      unreached: [...reachedBefore].filter((file) => !reached.has(file)),
    };
    [before, reachedBefore] = [tree, reached];
    return step;
  });
  return { steps, bodies, links: [...links.values()] };
}

export function madeHistory(trees: readonly MadeTree[]): History {
  const { steps, bodies, links } = madePack(trees);
  return unpacked('made', steps, bodies, links);
}

/** Writes a pack whose bodies are compressed by gzip. */
export function writePack(folder: string, { steps, bodies, links }: MadePack): void {
  mkdirSync(folder, { recursive: true });
  const lines = (rows: readonly unknown[]): Buffer => gzipSync(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  writeFileSync(join(folder, 'steps.jsonl.gz'), lines(steps));
  writeFileSync(join(folder, 'links.jsonl.gz'), lines(links));
  const framed = bodies.flatMap((body) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(body.length);
    return [length, body];
  });
  writeFileSync(join(folder, 'bodies.gz'), gzipSync(Buffer.concat(framed)));
}

const linksOf = (file: string, text: string): string[] =>
  [...text.matchAll(/href="([^"]*)"/g)].map(([, to = '']) => {
    const path = to.startsWith('/') ? to.slice(1) : posix.join(dirname(file), to);
    return path === '' || path.endsWith('/') ? `${path}index.html` : path;
  });

function reachedIn(tree: MadeTree): Set<string> {
  const reached = new Set(['index.html']);
  for (const file of reached) {
    for (const path of linksOf(file, tree[file] ?? '')) {
      const target = tree[path] === undefined ? `${path}/index.html` : path;
      if (tree[target] !== undefined && isPage(target)) reached.add(target);
    }
  }
  return reached;
}
