import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { CookieImport, CookieRow } from '../../../crawler/views.ts';
import { EXIT } from '../../../render/exit.ts';
import { counted } from '../../../render/quantities.ts';
import { safeText } from '../../../render/safe-text.ts';
import type { Column } from '../../../render/table.ts';
import type { Run } from '../../program/program.ts';
import { writeList, writeSummary } from '../../program/write-answer.ts';

const COLUMNS: readonly Column<CookieRow>[] = [
  { title: 'entry', cell: (row) => row.match },
  { title: 'name', cell: (row) => row.name },
  { title: 'domain', cell: (row) => row.domain },
  { title: 'path', rank: 2, cell: (row) => row.path },
  { title: 'secure', rank: 3, cell: (row) => (row.secure ? 'yes' : 'no') },
  { title: 'expires', rank: 1, cell: (row) => row.expires ?? 'with the session' },
];

export function addCookies(program: Command, run: Run): void {
  const cookies = program
    .command('cookies')
    .description('The cookies that entries of "hosts:" with "cookies: true" keep in the state directory.')
    .addHelpText('after', '\nExamples:\n  incrawl cookies import cookies.txt\n  incrawl cookies list');

  const list = cookies
    .command('list', { isDefault: true })
    .description('Names, domains and expiry times of the cookies; values are not shown.')
    .addHelpText('after', '\nExample:\n  incrawl cookies list --json');
  list.action(() =>
    run(list, async (session) => {
      const { storedCookies } = await import('../../../operations/cookies/cookie-operations.ts');
      const rows = storedCookies(session.options.dir, session.now());
      await writeList(session, rows, COLUMNS, { empty: 'No cookies.' });
    }),
  );

  const take = cookies
    .command('import')
    .argument('<file>', 'a cookies.txt, as extensions of browsers, curl and wget write it')
    .description('Import the cookies of a browser, and make pages due that waited for a login.')
    .option('--dry-run', 'only say what would be imported')
    .addHelpText('after', '\nExample:\n  incrawl cookies import cookies.txt');
  take.action((file: string, { dryRun = false }: { readonly dryRun?: boolean }) =>
    run(take, async (session) => {
      const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) =>
        session.refuse(`${file} cannot be read (${error.code})`),
      );
      const { plannedImport } = await import('../../../operations/cookies/cookie-operations.ts');
      const planned = plannedImport(session.config, text).summary;
      const summary = dryRun ? planned : await session.withCrawler((crawler) => crawler.importCookies(text));
      const verb = summary.due === 1 ? 'is' : 'are';
      const due = summary.due ? `; ${counted(summary.due, 'page')} that waited for a login ${verb} due` : '';
      await writeSummary(session, summary, () => `${counted(summary.imported, 'cookie')} imported${due}.\n`, dryRun);
      if (!session.json) for (const note of notesOn(summary)) session.note(note);
      return summary.imported === 0 ? EXIT.error : EXIT.done;
    }),
  );

  const clear = cookies
    .command('clear')
    .argument('[pattern]', 'the pattern of an entry, such as "*.example.org"; default: all')
    .description('Remove cookies: the next requests are sent without.')
    .option('--dry-run', 'only say how many would be removed')
    .addHelpText('after', "\nExample:\n  incrawl cookies clear '*.example.org'");
  clear.action((pattern: string | undefined, { dryRun = false }: { readonly dryRun?: boolean }) =>
    run(clear, async (session) => {
      const { storedCookies } = await import('../../../operations/cookies/cookie-operations.ts');
      const rows = storedCookies(session.options.dir, 0).filter(({ match }) => match === (pattern ?? match));
      const removed = dryRun ? rows.length : await session.withCrawler((crawler) => crawler.clearCookies(pattern));
      await writeSummary(session, { removed }, () => `${counted(removed, 'cookie')} removed.\n`, dryRun);
    }),
  );
}

function notesOn({ unused, faults }: CookieImport): string[] {
  const lines = faults.slice(0, 10).join(', ');
  return [
    ...(faults.length === 0
      ? []
      : [`Lines that are not cookies in this format: ${lines}${faults.length > 10 ? ', ...' : ''}`]),
    ...(unused.length === 0
      ? []
      : [`No entry of "hosts:" with "cookies: true" is for: ${safeText(unused.join(', '))}`]),
  ];
}
