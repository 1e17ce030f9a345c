import { readFile, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { CrawlError } from '../../../core/domain/errors.ts';
import { URL_SCOPES } from '../../../core/domain/url/canonical/url-key.ts';
import type { Checker } from '../../../crawler/index.ts';
import type { ParseInput } from '../../../crawler/views.ts';
import { addNetworkOptions } from '../../../query/input/option-values.ts';
import { blocksHtml } from '../../../render/html/blocks-html.ts';
import { checkText } from '../../../render/text/check-text.ts';
import { answerLines, type CheckInput, parseInput, requiredField, textField } from '../../input/stdin-answers.ts';
import type { Run } from '../../program/program.ts';
import { writeAnswer } from '../../program/write-answer.ts';
import type { Session } from '../../session.ts';

/** Options of all checks; each check uses its own. */
interface CheckFlags {
  readonly stdin?: true;
  readonly base?: string;
  readonly scope?: string;
  readonly url?: string;
  readonly contentType?: string;
  readonly robots?: string;
  readonly agent?: string;
  readonly html?: string;
  readonly signatures?: string;
  readonly against?: string;
}

interface Check {
  readonly name: string;
  readonly argument: string;
  readonly description: string;
  readonly example: string;
  readonly options: readonly (readonly [flags: string, description: string])[];
  readonly network?: true;
  ask(checker: Checker, input: CheckInput, flags: CheckFlags, session: Session): Promise<object>;
}

const CHECKS: readonly Check[] = [
  {
    name: 'url',
    argument: 'a URL, or {"url", "base", "scope"}',
    description: 'Run a URL through the normalizers and filters, step by step.',
    example: "incrawl check url 'HTTP://Example.org:80/a/../b?utm_source=x#top'",
    options: [
      ['--base <url>', 'resolve a relative URL against this one'],
      ['--scope <scope>', `where the URL is met: ${URL_SCOPES.join(', ')}`],
    ],
    ask(checker, input, flags) {
      const fields = typeof input === 'string' ? { url: input } : input;
      const base = textField(fields, 'base') ?? flags.base;
      const named = textField(fields, 'scope') ?? flags.scope ?? 'default';
      const scope = URL_SCOPES.find((each) => each === named);
      if (scope === undefined)
        throw new CrawlError('usage-invalid', `scope: expected one of ${URL_SCOPES.join(', ')}, not "${named}"`);
      return checker.url({ url: requiredField(fields, 'url'), ...(base === undefined ? {} : { base }), scope });
    },
  },
  {
    name: 'parse',
    argument: 'a file or URL, or {"file", "url", "contentType"}',
    description: 'Run a page through the parser plugins: title, text, main content, signature, outlinks.',
    example: 'incrawl check parse page.html --url https://example.org/page.html',
    options: [
      ['--url <url>', 'the URL that the file came from, for its relative links'],
      ['--content-type <type>', 'its Content-Type header'],
      ['--signatures <names>', 'compute its signature by these plugins too, separated by commas; all: by each'],
      ['--against <file>', 'another version of it, a file or URL: the bits between the signatures of both'],
      ['--html <file>', 'write its blocks as a page for a browser: what was taken, why, and what a reading mode takes'],
    ],
    network: true,
    async ask(checker, input, flags) {
      const isUrl = typeof input === 'string' && isAddress(input);
      const file = typeof input === 'string' ? (isUrl ? undefined : input) : textField(input, 'file');
      const url = (typeof input === 'string' ? (isUrl ? input : undefined) : textField(input, 'url')) ?? flags.url;
      const contentType =
        (typeof input === 'string' ? undefined : textField(input, 'contentType')) ?? flags.contentType;
      if (!file && !url) throw new CrawlError('usage-invalid', 'expected a "file" or a "url"');
      const page = { ...(file && { file }), ...(url && { url }), ...(contentType && { contentType }) };
      const signatures = await signaturesOf(checker, page, flags);
      if (flags.html === undefined) return { ...(await checker.parse(page)), ...signatures };
      const explained = await checker.explainParse(page);
      await writeFile(flags.html, blocksHtml(explained));
      return { ...explained.check, ...signatures };
    },
  },
  {
    name: 'robots',
    argument: 'a URL, or {"robots", "agent", "url"}',
    description: 'Whether robots.txt allows a URL, and by which line.',
    example:
      'incrawl check robots https://example.org/private/\n  incrawl check robots /private/ --robots robots.txt --agent incrawl',
    options: [
      ['--robots <file>', 'a local robots.txt; default: fetched from the host of the URL'],
      ['--agent <name>', 'product token; default: agent.name'],
    ],
    network: true,
    async ask(checker, input, flags, session) {
      const fields = typeof input === 'string' ? { url: input } : input;
      const text =
        textField(fields, 'robots') ?? (flags.robots === undefined ? undefined : await readFile(flags.robots, 'utf8'));
      const agent = textField(fields, 'agent') ?? flags.agent ?? session.config.agent.name;
      return checker.robots({
        ...(text === undefined ? {} : { robots: text }),
        agent,
        url: requiredField(fields, 'url'),
      });
    },
  },
  {
    name: 'sitemap',
    argument: 'a file, or {"file"}',
    description: 'Read a sitemap or sitemap index: its entries and its errors.',
    example: 'incrawl check sitemap sitemap.xml --json',
    options: [],
    ask(checker, input) {
      const file = typeof input === 'string' ? input : requiredField(input, 'file');
      if (file === '') throw new CrawlError('usage-invalid', 'expected the name of a file');
      return checker.sitemap(file);
    },
  },
];

/** The comparison of signatures, if requested. */
async function signaturesOf(checker: Checker, page: ParseInput, { signatures, against }: CheckFlags): Promise<object> {
  if (signatures === undefined && against === undefined) return {};
  const names = (signatures ?? 'all') === 'all' ? undefined : signatures?.split(',').map((name) => name.trim());
  const other = against === undefined ? undefined : isAddress(against) ? { url: against } : { file: against };
  return {
    signatures: await checker.signatures(page, {
      ...(names !== undefined && { names }),
      ...(other !== undefined && { against: other }),
    }),
  };
}

const isAddress = (input: string): boolean => /^https?:\/\//i.test(input);

export function addCheck(program: Command, run: Run): void {
  const check = program
    .command('check')
    .description('Run one stage of the pipeline on one input, or on each line of stdin. Needs no crawl db.')
    .addHelpText('after', `\nExamples:\n${CHECKS.map(({ example }) => `  ${example}`).join('\n')}`);
  for (const each of CHECKS) addOne(check, each, run);
}

function addOne(parent: Command, check: Check, run: Run): void {
  const command = parent
    .command(check.name)
    .argument('[input]', check.argument)
    .description(check.description)
    .option('--stdin', 'one input per line on stdin; one line of JSON for each, in order')
    .addHelpText('after', `\nExamples:\n  ${check.example}\n  incrawl check ${check.name} --stdin < inputs.txt`);
  for (const [flags, description] of check.options) command.option(flags, description);
  if (check.network) addNetworkOptions(command);
  command.action((input: string | undefined, flags: CheckFlags) =>
    run(command, async (session) => {
      if ((input === undefined) === (flags.stdin === undefined)) {
        return session.refuse(`expected one input (${check.argument}), or --stdin`);
      }
      await session.withChecker(async (checker) => {
        const ask = (each: CheckInput): Promise<object> => check.ask(checker, each, flags, session);
        if (input === undefined) return answerLines(session, ask);
        const answer = await ask(parseInput(input));
        await writeAnswer(session, answer, () => checkText(answer, session.color));
      });
    }),
  );
}
