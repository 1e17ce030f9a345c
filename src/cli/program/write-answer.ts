import { withoutPassword } from '../../core/config/store-url.ts';
import type { ListFormat } from '../../render/listing.ts';
import { counted } from '../../render/quantities.ts';
import type { Column } from '../../render/table.ts';
import { shellWord } from '../process/own-command.ts';
import type { Session } from '../session.ts';
import { dryRunNotice, jsonOf } from './dry-run.ts';

/**
 * The command line that resumes a stopped one: the same without its seeds, which are in the crawl db by then, and
 * without passwords, since the text may end up in a log. Quoted for a POSIX shell.
 */
export function resumeCommand(argv: readonly string[], seeds: readonly string[]): string {
  const words = [...argv];
  for (const seed of seeds) {
    const index = words.lastIndexOf(seed);
    if (index >= 0) words.splice(index, 1);
  }
  return ['incrawl', ...words].map((word) => shellWord(withoutPassword(word))).join(' ');
}

/**
 * Writes the answer of a command: one line of JSON under `--json`, otherwise `text`, which includes its line ends. The
 * answer of a dry run is marked as such.
 */
export function writeAnswer(
  session: Session,
  answer: object | null,
  text: () => string,
  dryRun = false,
): Promise<void> {
  if (!session.json) return writeText(session, `${dryRunNotice(dryRun)}${text()}`);
  return session.out.write(`${answer === null ? 'null' : jsonOf(answer, dryRun)}\n`);
}

/** Writes text for people, which includes its line ends; lines wider than the terminal are broken between words. */
export async function writeText({ out, width }: Session, text: string): Promise<void> {
  if (!Number.isFinite(width)) return out.write(text);
  const { wrapText } = await import('../../render/table.ts');
  return out.write(wrapText(text, width));
}

/**
 * Whether the summary of work is printed: under `--quiet` only as JSON. The summary of a dry run is the answer to a
 * question and is always printed.
 */
export const wantsSummary = (session: Session, dryRun = false): boolean =>
  session.json || dryRun || session.options.quiet !== true;

/** Writes the summary of work as {@link writeAnswer} does, where {@link wantsSummary} says so. */
export async function writeSummary(
  session: Session,
  summary: object,
  text: () => string,
  dryRun = false,
): Promise<void> {
  if (wantsSummary(session, dryRun)) await writeAnswer(session, summary, text, dryRun);
}

/** Says that a command was sent to the partitions of a spread crawl, and who carries it out. */
export function noteSent(session: Session, { partitions = 0 }: { readonly partitions?: number }): void {
  if (partitions === 0 || session.json) return;
  session.note(`Sent to ${counted(partitions, 'partition')}: workers carry it out ("incrawl work").`);
}

/**
 * Writes rows in the requested format: by default one JSON array under `--json`, otherwise a table. `empty` is the note
 * for a table without rows. Resolves with the number of rows.
 */
export async function writeList<Row extends object>(
  session: Session,
  rows: AsyncIterable<Row> | Iterable<Row>,
  columns: readonly Column<Row>[],
  {
    format = session.json ? 'json' : 'table',
    empty,
  }: { readonly format?: ListFormat | undefined; readonly empty?: string },
): Promise<number> {
  const { writeListing } = await import('../../render/listing.ts');
  const written = await writeListing(session.out, rows, { format, columns, style: session });
  if (written === 0 && format === 'table' && empty !== undefined) session.note(empty);
  return written;
}
