import { configReference, hostReference } from '../../core/config/sample.ts';
import { CHANGES } from '../../core/domain/crawl/change/page-change.ts';
import type { CrawlState } from '../../core/domain/crawl/states/datum.ts';
import { SKIP_REASONS, type SkipStage } from '../../core/domain/crawl/states/skip-reasons.ts';
import { type Consequence, ERRORS } from '../../core/domain/errors.ts';
import { FINDINGS } from '../../core/domain/findings.ts';
import { EXIT, exitCodeOfCode } from '../../render/exit.ts';

export function configurationPage(): ReferencePage {
  const rows = configReference();
  const sections = [...new Set(rows.map((row) => row.key.split('.')[0] ?? ''))];
  return {
    title: 'Configuration',
    intro:
      'conf/incrawl.yaml or incrawl.yaml, or --config FILE; single values by -D key=value. "incrawl config --origin" ' +
      'prints the values in effect and their sources.',
    parts: [
      ...sections.map((section) => ({
        heading: section,
        columns: ['key', 'type', 'default', 'limits', 'meaning'],
        rows: rows
          .filter((row) => row.key.startsWith(`${section}.`))
          .map((row) => [row.key, row.type, row.default, row.limits, row.prose]),
      })),
      {
        heading: 'hosts',
        columns: ['key of an entry', 'type', 'limits', 'meaning'],
        rows: hostReference().map((row) => [row.key, row.type, row.limits, row.prose]),
      },
    ],
  };
}

const CONSEQUENCES: Readonly<Record<Consequence, string>> = {
  'retry-later': 'the URL is tried again later, with growing pauses',
  'drop-url': 'the error is recorded; no further try before the next visit is due',
  'pause-host': 'the host is not visited in the rest of the round',
  'stop-crawl': 'the crawl ends',
  refuse: 'nothing was started',
};

export function errorsPage(): ReferencePage {
  return {
    title: 'Errors and exit codes',
    intro: 'Codes are stable; messages may change. Records and reports contain the codes.',
    parts: [
      {
        heading: 'Errors',
        columns: ['code', 'consequence', 'exit code', 'meaning'],
        rows: Object.entries(ERRORS).map(([code, { consequence, text }]) => [
          code,
          CONSEQUENCES[consequence],
          consequence === 'refuse' || consequence === 'stop-crawl' ? String(exitCodeOfCode(code)) : '',
          text,
        ]),
      },
      {
        heading: 'Exit codes',
        columns: ['exit code', 'meaning'],
        rows: Object.entries(EXIT).map(([name, code]) => [String(code), EXITS[name as keyof typeof EXIT]]),
      },
    ],
  };
}

const EXITS: Readonly<Record<keyof typeof EXIT, string>> = {
  done: 'done',
  error:
    'an error; also a crawl or a scheduled run in which all visits failed, or a login page was met (login-required)',
  usage: 'wrong usage or configuration; nothing was started',
  diskFull: 'the disk is full',
  nothingDue: 'nothing is due (generate)',
  locked: 'another process holds the crawl db; the message names the process',
  stopped: 'stopped by a signal; the same command resumes',
  failureLimit: 'too many failures in a row; the network may be down',
  forced: 'stopped at once, by a second signal or 9 s after the first; files stay valid',
};

const STATES: Readonly<Record<CrawlState, string>> = {
  unfetched: 'known, never fetched',
  fetched: 'new or changed at the last successful visit',
  notmodified: 'unchanged at the last successful visit',
  redir_temp: 'answers with a temporary redirect; the target has a record of its own',
  redir_perm: 'answers with a permanent redirect',
  gone: 'answers 404 or 410; visited with growing pauses, in the end no more; the record stays',
  duplicate: 'near-duplicate of another page, the target of its record',
  orphan: 'no live page links to it any more',
  parse_failed: 'fetched, but could not be parsed',
};

export function statesPage(): ReferencePage {
  return {
    title: 'States of a URL',
    intro:
      'The state is that of the last successful visit: a page that fails temporarily keeps it, and its record has ' +
      'failures, lastError and httpStatus.',
    parts: [
      {
        heading: '',
        columns: ['state', 'meaning'],
        rows: Object.entries(STATES).map(([state, text]) => [state, text]),
      },
    ],
  };
}

export function findingsPage(): ReferencePage {
  return {
    title: 'Findings of state verify',
    intro:
      'Faults that "incrawl state verify" finds in a state directory, and their repair by "incrawl state repair". ' +
      'Codes are stable.',
    parts: [
      {
        heading: '',
        columns: ['finding', 'meaning', 'repair'],
        rows: Object.entries(FINDINGS).map(([kind, { text, repair }]) => [kind, text, repair]),
      },
    ],
  };
}

export function changesPage(): ReferencePage {
  return {
    title: 'Kinds of changes',
    intro: 'Kinds of entries in the change feed ("incrawl changes", webhooks). The names are stable.',
    parts: [{ heading: '', columns: ['change', 'meaning'], rows: Object.entries(CHANGES).map((row) => [...row]) }],
  };
}

const STAGES: Readonly<Record<SkipStage, string>> = {
  found: 'Links that were filtered out',
  selected: 'Due URLs that were not selected for a round',
  visited: 'Visits that failed',
};

export function skipsPage(): ReferencePage {
  const reasons = Object.entries(SKIP_REASONS);
  return {
    title: 'Reasons for skipping a URL',
    intro:
      '"incrawl skipped" lists URLs by these reasons; "incrawl due retry" makes those with a record due. The names ' +
      'are stable.',
    parts: (Object.keys(STAGES) as SkipStage[]).map((stage) => ({
      heading: STAGES[stage],
      columns: ['reason', 'meaning', 'what to do'],
      rows: reasons
        .filter(([, facts]) => facts.stage === stage)
        .map(([name, { text, remedy }]) => [name, text, remedy]),
    })),
  };
}

/** A reference page: Markdown in `docs/reference`, and text from `incrawl help TOPIC`. */
export interface ReferencePage {
  readonly title: string;
  readonly intro: string;
  readonly parts: readonly ReferencePart[];
}

export interface ReferencePart {
  readonly heading: string;
  readonly prose?: string;
  readonly columns?: readonly string[];
  readonly rows?: readonly (readonly string[])[];
  /** Shown verbatim. */
  readonly code?: string;
}

export function asMarkdown(page: ReferencePage): string {
  const parts = page.parts.map((part) =>
    [
      ...(part.heading === '' ? [] : [`## ${part.heading}`]),
      ...(part.prose === undefined ? [] : [escaped(part.prose)]),
      ...(part.rows === undefined || part.rows.length === 0 ? [] : [tableOf(part.columns ?? [], part.rows)]),
      ...(part.code === undefined ? [] : [indented(part.code, '    ')]),
    ].join('\n\n'),
  );
  return `${[`# ${page.title}`, escaped(page.intro), ...parts].join('\n\n')}\n`;
}

/** The page for a terminal. */
export function asText(page: ReferencePage, bold: (text: string) => string): string {
  const parts = page.parts.map((part) =>
    [
      ...(part.heading === '' ? [] : [bold(part.heading)]),
      ...(part.prose === undefined ? [] : [`  ${part.prose}`]),
      ...(part.rows ?? []).map(([first = '', ...rest]) => {
        const facts = rest.slice(0, -1).filter((fact) => fact !== '');
        const prose = rest.at(-1) ?? '';
        return `  ${first}${facts.length === 0 ? '' : `  (${facts.join('; ')})`}\n      ${prose}`;
      }),
      ...(part.code === undefined ? [] : [indented(part.code, '  ')]),
    ].join('\n'),
  );
  return `${[bold(page.title), page.intro, ...parts].join('\n\n')}\n`;
}

function tableOf(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const body = rows.map((row) =>
    line(row.map((cell, i) => (i === 0 && cell !== '' ? `\`${cell.replaceAll('|', '\\|')}\`` : escaped(cell)))),
  );
  return [line(columns), line(columns.map(() => '---')), ...body].join('\n');
}

const indented = (text: string, by: string): string =>
  text
    .split('\n')
    .map((each) => (each === '' ? '' : by + each))
    .join('\n');

const escaped = (text: string): string => text.replace(/[|<>*]/g, '\\$&');
