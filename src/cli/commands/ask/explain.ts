import type { Command } from 'commander';
import { canonicalUrl, isUrl } from '../../../core/domain/url/canonical/canonical-url.ts';
import { safeText } from '../../../render/safe-text.ts';
import { explanationText } from '../../../render/text/explanation-text.ts';
import type { Run } from '../../program/program.ts';
import { writeAnswer } from '../../program/write-answer.ts';

export function addExplain(program: Command, run: Run): void {
  const command = program
    .command('explain')
    .argument('<url>')
    .description(
      'Why a URL is or is not fetched: URL filters, robots.txt, the page that links to it, its visits, how the next ' +
        'visit was computed, and how to bring it forward.',
    )
    .addHelpText('after', '\nExample:\n  incrawl explain https://example.org/news/');
  command.action((url: string) =>
    run(command, async (session) => {
      const canonical = canonicalUrl(url);
      // A URL of another scheme is refused by the URL rules, which is explained.
      if ('error' in canonical && !isUrl(url)) return session.refuse(safeText(canonical.error));
      const explanation = await session.withReader((reader) => reader.explain(url));
      await writeAnswer(session, explanation, () => explanationText(explanation, session));
    }),
  );
}
