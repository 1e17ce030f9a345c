import { asked } from '../program.ts';

/** What a page is at the end of a crawl, whoever visited it when. */
const FIELDS = [
  'url',
  'state',
  'depth',
  'seed',
  'httpStatus',
  'contentType',
  'digest',
  'signature',
  'changeSignature',
].concat(['signatureName', 'title', 'textChars', 'failures', 'target']);

type Line = Readonly<Record<string, unknown>>;

/**
 * The lines of `db export` without times, numbers and the order of visits: pages, states, signatures, links, and each
 * change once. A gap in the numbers of the changes is a line, too.
 */
export async function crawlEnd(where: readonly string[]): Promise<readonly string[]> {
  const text = await asked(['db', 'export', ...where, '--quiet']);
  const end: string[] = [];
  let last = 0;
  for (const line of text
    .trim()
    .split('\n')
    .map((each) => JSON.parse(each) as Line)) {
    const { record, links, change } = line as { record?: Line; links?: Line; change?: Line };
    if (record !== undefined) end.push(JSON.stringify(FIELDS.map((field) => record[field])));
    if (links !== undefined) end.push(`${links.url} > ${[...(links.targets as string[])].sort().join(' ')}`);
    if (change === undefined) continue;
    if (last > 0 && change.seq !== last + 1) end.push(`gap in the feed before ${change.seq}`);
    last = Number(change.seq);
    end.push(`${change.kind} ${change.url} ${change.state} ${change.status} ${change.target}`);
  }
  return end.sort();
}

/** The first difference of two ends; empty: they are equal. */
export function differenceOf(is: readonly string[], expected: readonly string[]): string {
  const missing = expected.filter((line) => !is.includes(line));
  const more = is.filter((line) => !expected.includes(line));
  if (missing.length + more.length > 0) {
    return `${missing.length} lines are missing, such as\n  ${missing[0]}\nand ${more.length} are there instead, such as\n  ${more[0]}`;
  }
  return is.length === expected.length ? '' : `${is.length} lines, and ${expected.length} were expected`;
}
