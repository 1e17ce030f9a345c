import type { SeedSource } from '../../crawler/index.ts';
import type { CommandAnswer, CommandName, InjectSummary, TouchSummary } from '../../crawler/views.ts';

/** Sends a command to a crawl, as `tellRun` does. */
export type Tell = <Name extends CommandName>(command: Name, ...args: unknown[]) => Promise<CommandAnswer<Name>>;

/** Characters of lines sent in one command, as JSON. */
const SENT_AT_ONCE = 48_000;

/** Sends any number of URLs, in as many commands as necessary. */
export async function tellTouched(tell: Tell, urls: Iterable<string>): Promise<TouchSummary> {
  let sum: TouchSummary = { touched: 0, unmoved: 0, unknown: [], invalid: [] };
  for await (const { lines } of batches(urls)) {
    const more = await tell('touch', lines);
    sum = {
      touched: sum.touched + more.touched,
      unmoved: sum.unmoved + more.unmoved,
      unknown: [...sum.unknown, ...more.unknown],
      invalid: [...sum.invalid, ...more.invalid],
    };
  }
  return sum;
}

/** Sends seeds of any length; errors have the line numbers of their sources. */
export async function tellSeeds(tell: Tell, sources: Iterable<SeedSource>): Promise<InjectSummary> {
  let sum: InjectSummary = {
    ...{ urls: 0, injected: 0, updated: 0, overwritten: 0, kept: 0, filtered: 0 },
    ...{ filteredBy: {}, errors: [] },
  };
  for (const { name, lines: all } of sources) {
    for await (const { lines, before } of batches(all)) sum = added(sum, await tell('inject', lines, name), before);
  }
  return sum;
}

/** @param before number of lines of the source before those of `b` */
function added(a: InjectSummary, b: InjectSummary, before: number): InjectSummary {
  const filteredBy: Record<string, number> = { ...a.filteredBy };
  for (const [reason, urls] of Object.entries(b.filteredBy)) filteredBy[reason] = (filteredBy[reason] ?? 0) + urls;
  return {
    urls: a.urls + b.urls,
    injected: a.injected + b.injected,
    updated: a.updated + b.updated,
    overwritten: a.overwritten + b.overwritten,
    kept: a.kept + b.kept,
    filtered: a.filtered + b.filtered,
    filteredBy,
    errors: [...a.errors, ...b.errors.map((error) => ({ ...error, line: error.line + before }))],
  };
}

/** Lines in parts small enough for one command, each with the number of lines before it. */
async function* batches(
  all: SeedSource['lines'],
): AsyncGenerator<{ readonly lines: readonly string[]; readonly before: number }> {
  let lines: string[] = [];
  let [before, length] = [0, 0];
  for await (const line of all) {
    const { length: more } = JSON.stringify(line);
    if (lines.length > 0 && length + more > SENT_AT_ONCE) {
      yield { lines, before };
      before += lines.length;
      [lines, length] = [[], 0];
    }
    lines.push(line);
    length += more;
  }
  if (lines.length > 0) yield { lines, before };
}
