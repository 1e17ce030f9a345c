// cli/readdb/: the questions of readdb, and their answers.

import type { RecordQuery } from '../../crawler/index.ts';
import type { QueryReport } from '../../crawler/views.ts';
import type { CrawlReader } from '../../query/questions.ts';
import { EXIT } from '../../render/exit.ts';
import { printedJson, safeText } from '../../render/safe-text.ts';
import type { Column } from '../../render/table.ts';
import { writeText } from '../program/write-answer.ts';
import type { Session } from '../session.ts';
import type { Question, ReaddbFlags } from './flags.ts';

/** Queries the crawl db and writes the answer. Resolves with the exit code. */
export function answer(session: Session, question: Question): Promise<number> {
  // Only the configuration says which filter is in use.
  return question.kind === 'seen' ? seen(session) : session.withReader((db) => ofDb(session, db, question));
}

function seen(session: Session): Promise<number> {
  return session.withReader(async (crawler) => {
    const view = await crawler.seen();
    const text = async (): Promise<string> => (await import('../../render/text/seen-text.ts')).seenText(view, session);
    if (session.json) await session.out.write(`${printedJson(view)}\n`);
    else await writeText(session, await text());
    return EXIT.done;
  }, WITH_INDEXES);
}

const WITH_INDEXES = { withIndexes: true };

async function ofDb(session: Session, db: CrawlReader, question: Exclude<Question, { kind: 'seen' }>): Promise<number> {
  const { flags } = question;
  switch (question.kind) {
    case 'stats': {
      const stats = await db.stats(flags.full ? { full: true } : {});
      const text = async (): Promise<string> => (await import('../../render/text/record-text.ts')).statsText(stats);
      if (session.json) await session.out.write(`${printedJson(stats)}\n`);
      else await writeText(session, await text());
      noteQuery(session, flags, `counters${stats.estimated ? '' : ' and the due index'}`);
      return EXIT.done;
    }
    case 'groups': {
      const groups = await db.groups(question.by);
      noteQuery(session, flags, 'rows of the hosts');
      return list(session, flags, groups.slice(0, flags.limit), (all) => all.GROUP_COLUMNS);
    }
    case 'url': {
      const url = flags.url ?? '';
      const record = await db.record(url);
      if (session.json) await session.out.write(`${printedJson(record)}\n`);
      else if (record !== null) {
        const { recordText } = await import('../../render/text/record-text.ts');
        await writeText(session, recordText(record, session));
      }
      if (record === null) session.note(`Not in the crawl db: ${safeText(url)}; "incrawl explain" says why.`);
      noteQuery(session, flags, 'the key of the record, 1 row read');
      return record === null ? EXIT.error : EXIT.done;
    }
    case 'hosts':
      noteQuery(session, flags, `rows of the hosts${flags.full ? ' and the due index' : ''}`);
      return list(
        session,
        flags,
        db.hosts({ ...limitOf(flags), ...hostQueryOf(flags), full: flags.full ?? false }),
        (all) => all.HOST_COLUMNS,
      );
    case 'inlinks':
      noteQuery(session, flags, `${PASS} for the links to one URL`);
      return list(session, flags, db.inlinks(flags.inlinks ?? '', limitOf(flags)), (all) => all.INLINK_COLUMNS);
    case 'broken':
      noteQuery(session, flags, `index of states, index of failing pages, ${PASS}`);
      return list(session, flags, db.brokenLinks(limitOf(flags)), (all) => all.BROKEN_COLUMNS);
    case 'due':
      return reported(
        session,
        db,
        flags,
        db.due({ ...limitOf(flags), forMs: question.forMs }),
        (all) => all.DUE_COLUMNS,
      );
    case 'records':
      return records(session, db, flags, question.query);
  }
}

const PASS = 'a pass over the stored outlinks and one over the segments';

function records(session: Session, db: CrawlReader, flags: ReaddbFlags, query: RecordQuery): Promise<number> {
  const { fields } = flags;
  if (fields === undefined) return reported(session, db, flags, db.records(query), (all) => all.RECORD_COLUMNS);
  return reported(session, db, flags, db.select(query, fields), (all) => all.fieldColumns(fields));
}

type ColumnsOf<Row> = (all: typeof import('../../render/columns.ts')) => readonly Column<Row>[];

async function reported<Row extends object>(
  session: Session,
  db: CrawlReader,
  flags: ReaddbFlags,
  rows: AsyncGenerator<Row, QueryReport, undefined>,
  columns: ColumnsOf<Row>,
): Promise<number> {
  let report: QueryReport | null = null;
  const kept = async function* (): AsyncGenerator<Row, void, undefined> {
    report = yield* rows;
  };
  const code = await list(session, flags, kept(), columns);
  const { host } = flags;
  if (report !== null && isEmpty(report) && host !== undefined) await noteOtherPorts(session, db, host);
  if (report !== null) noteQuery(session, flags, reportText(report));
  return code;
}

const isEmpty = ({ returned }: QueryReport): boolean => returned === 0;

/** A host with a non-default port is a separate host, which is easily forgotten. */
async function noteOtherPorts(session: Session, db: CrawlReader, host: string): Promise<void> {
  const found: string[] = [];
  for await (const row of db.hosts({ full: false })) if (row.host.startsWith(`${host}:`)) found.push(row.host);
  if (found.length === 0) return;
  const shown = found.slice(0, 10).map((each) => safeText(each));
  session.note(`The crawl db has ${host} with other ports: --host ${shown.join(', --host ')}`);
}

async function list<Row extends object>(
  session: Session,
  { format: asked }: ReaddbFlags,
  rows: AsyncIterable<Row> | Iterable<Row>,
  columns: ColumnsOf<Row>,
): Promise<number> {
  const format = asked ?? (session.json ? 'json' : 'table');
  const { writeListing } = await import('../../render/listing.ts');
  // Only a table needs the widths of characters; loading them takes longer than most answers.
  const shown = format === 'table' ? columns(await import('../../render/columns.ts')) : [];
  const written = await writeListing(session.out, rows, { format, columns: shown, style: session });
  if (written === 0 && format === 'table') session.note('Nothing matches.');
  return EXIT.done;
}

const INDEX_NAMES: Readonly<Record<QueryReport['index'], string>> = {
  records: 'pass over the records',
  hosts: 'counts of the hosts and keys of the records',
  due: 'due index',
  state: 'index of states',
  failing: 'index of failing pages',
  changing: 'index of changing pages',
};

function reportText({ index, range, rowsRead, returned }: QueryReport): string {
  return `${INDEX_NAMES[index]}, ${safeText(range)}: ${rowsRead} rows read, ${returned} returned`;
}

function noteQuery(session: Session, { explainQuery }: ReaddbFlags, text: string): void {
  if (explainQuery) session.note(`Query: ${text}`);
}

const hostQueryOf = ({ where, sort }: ReaddbFlags): { where?: string; sort?: string } => ({
  ...(where !== undefined && { where }),
  ...(sort !== undefined && { sort }),
});

const limitOf = ({ limit }: ReaddbFlags): { limit?: number } => (limit === undefined ? {} : { limit });
