import { canonicalUrl, explainCanonicalUrl } from '../domain/url/canonical/canonical-url.ts';
import type { Log } from '../ports/log.ts';
import type { UrlAdmissionVerdict, UrlContext, UrlFamily, UrlRefusal, UrlScope, UrlVerdict } from './api/plugin-api.ts';
import { atOnce } from './loading/answer-checks.ts';
import type { LoadedPlugins } from './loading/load-plugins.ts';
import { textOf } from './loading/resolve-plugin.ts';

export interface UrlResult {
  readonly url: string | null;
  readonly reason: string | null;
  /** The plugin that refused the URL, or `url` where it is invalid; absent when it is let in. */
  readonly by?: string;
}

export interface UrlTraceStep {
  readonly name: string;
  readonly before: string;
  readonly after: string | null;
  readonly note?: string | undefined;
}

/** The URL plugins. Without `scopes` all normalisers run in every scope. */
export type UrlPlugins = Pick<LoadedPlugins, 'normalizers' | 'filters'> &
  Partial<Pick<LoadedPlugins, 'scopes' | 'exemptions'>>;

/**
 * Canonical form -> normalisers of the scope (after each the canonical form again) -> filters, whose refusals the
 * exemptions may lift. A normaliser or filter that throws keeps the URL out, and the reason names it.
 */
export function applyUrlChain(plugins: UrlPlugins, input: string, context: UrlContext, base?: string): UrlResult {
  const canonical = canonicalUrl(input, base);
  if ('error' in canonical) return { url: null, reason: canonical.error, by: 'url' };
  let { url } = canonical;
  const { scope = 'default' } = context;
  for (const plugin of normalizersOf(plugins, scope)) {
    const next = normalizeBy(plugin, url, scope);
    if (next.url === null) return { ...next, by: plugin.name };
    url = next.url;
  }
  for (const plugin of plugins.filters) {
    const verdict = filterBy(plugin, url, context);
    if (verdict.accept) continue;
    const { by, reason, isExempt } = afterExemptions(
      plugins,
      url,
      { by: plugin.name, reason: verdict.reason },
      context,
    );
    if (!isExempt) return { url: null, reason, by };
  }
  return { url, reason: null };
}

/** Whether a filter may refuse a URL for its depth. */
export const judgesDepth = ({ filters }: UrlPlugins): boolean =>
  filters.some(({ extension }) => extension.judgesDepth === true);

/** The form of a URL in the crawl db: canonical and normalised, not filtered. */
export function normalizedUrl({ normalizers, scopes }: UrlPlugins, input: string): UrlResult {
  return applyUrlChain({ normalizers, filters: [], ...(scopes && { scopes }) }, input, {
    from: null,
    depth: 0,
    seedHosts: new Set(),
  });
}

/** The URL under which the crawl db knows a link of a page, whether or not the filters let it in; `null`: none. */
export function normalizedLink({ normalizers, scopes }: Omit<UrlPlugins, 'filters'>, link: string): string | null {
  return applyUrlChain({ normalizers, filters: [], ...(scopes && { scopes }) }, link, LINK_CONTEXT).url;
}

const LINK_CONTEXT: UrlContext = { from: null, depth: 0, seedHosts: new Set(), scope: 'outlink' };

/** As {@link applyUrlChain}, with a trace of each step. */
export function explainUrlChain(
  plugins: UrlPlugins,
  input: string,
  context: UrlContext,
  base?: string,
): UrlResult & { readonly steps: readonly UrlTraceStep[] } {
  const steps: UrlTraceStep[] = explainCanonicalUrl(input, base).map(({ name, before, after }) => ({
    name,
    before,
    after,
  }));
  const canonical = canonicalUrl(input, base);
  if ('error' in canonical) return { url: null, reason: canonical.error, steps };
  let { url } = canonical;
  const { scope = 'default' } = context;
  for (const plugin of normalizersOf(plugins, scope)) {
    const next = normalizeBy(plugin, url, scope);
    if (next.url !== url) steps.push(...normalizerSteps(plugin, url, next));
    if (next.url === null) return { ...next, steps };
    url = next.url;
  }
  for (const plugin of plugins.filters) {
    const verdict = filterBy(plugin, url, context);
    const note = verdict.reason ?? describedBy(plugin, url);
    steps.push({ name: plugin.name, before: url, after: verdict.accept ? url : null, note });
    if (verdict.accept) continue;
    const { by, reason, isExempt } = afterExemptions(
      plugins,
      url,
      { by: plugin.name, reason: verdict.reason },
      context,
    );
    if (by !== plugin.name) steps.push({ name: by, before: url, after: isExempt ? url : null, note: reason });
    if (!isExempt) return { url: null, reason, steps };
  }
  return { url, reason: null, steps };
}

/**
 * The normalisers of a scope. Where scopes are named and `generate` is not, known URLs are only filtered: they were
 * normalised by the scope in which they were found.
 */
function normalizersOf({ normalizers, scopes }: UrlPlugins, scope: UrlScope): LoadedPlugins['normalizers'] {
  if (scopes === undefined || scopes.size === 0) return normalizers;
  return scopes.get(scope) ?? (scope === 'generate' ? NO_NORMALIZERS : (scopes.get('default') ?? normalizers));
}

const NO_NORMALIZERS: LoadedPlugins['normalizers'] = [];

/** What becomes of a refusal: the first exemption from it, the fault of one, or the refusal itself. */
function afterExemptions(
  { exemptions = [] }: UrlPlugins,
  url: string,
  refusal: UrlRefusal,
  context: UrlContext,
): UrlRefusal & { readonly isExempt: boolean } {
  for (const { name, extension } of exemptions) {
    try {
      const verdict = atOnce('exempt', extension.exempt(url, refusal, context));
      if (typeof verdict?.exempt !== 'boolean') throw new TypeError('exempt must return {exempt: boolean}');
      if (!verdict.exempt) continue;
      const { reason } = withShortReason(verdict);
      return { by: name, reason: `exempted from ${refusal.by}: ${reason}`, isExempt: true };
    } catch (error) {
      return { by: name, reason: `plugin-failed: ${name}: ${textOf(error)}`, isExempt: false };
    }
  }
  return { ...refusal, isExempt: false };
}

function normalizeBy(plugin: LoadedPlugins['normalizers'][number], url: string, scope: UrlScope): UrlResult {
  try {
    const next: unknown = atOnce('normalize', plugin.extension.normalize(url, scope));
    if (next === url) return { url, reason: null };
    if (next === null) return { url: null, reason: `${plugin.name} refuses it` };
    if (typeof next !== 'string') throw new TypeError(`normalize must return a URL or null, not ${typeof next}`);
    const again = canonicalUrl(next);
    return 'error' in again
      ? { url: null, reason: `${plugin.name}: ${again.error}` }
      : { url: again.url, reason: null };
  } catch (error) {
    return { url: null, reason: `plugin-failed: ${plugin.name}: ${textOf(error)}` };
  }
}

/** Rule by rule, where the normaliser has `explain` and its last step agrees with the result. */
function normalizerSteps(
  plugin: LoadedPlugins['normalizers'][number],
  before: string,
  next: UrlResult,
): UrlTraceStep[] {
  const whole = { name: plugin.name, before, after: next.url, note: next.reason ?? undefined };
  let rules: readonly { readonly rule: string; readonly after: string }[] = [];
  try {
    rules = atOnce('explain', plugin.extension.explain?.(before)) ?? [];
  } catch {
    return [whole];
  }
  if (rules.at(-1)?.after !== next.url) return [whole];
  return rules.map(({ rule, after }, i) => ({
    name: `${plugin.name}: ${rule}`,
    before: rules[i - 1]?.after ?? before,
    after,
  }));
}

function filterBy(plugin: LoadedPlugins['filters'][number], url: string, context: UrlContext): UrlVerdict {
  try {
    const verdict = atOnce('filter', plugin.extension.filter(url, context));
    if (typeof verdict?.accept !== 'boolean') throw new TypeError('filter must return {accept: boolean}');
    return verdict.accept ? verdict : withShortReason(verdict);
  } catch (error) {
    return { accept: false, reason: `plugin-failed: ${plugin.name}: ${textOf(error)}` };
  }
}

function describedBy(plugin: LoadedPlugins['filters'][number], url: string): string | undefined {
  try {
    return atOnce('describe', plugin.extension.describe?.(url));
  } catch (error) {
    return `plugin-failed: ${plugin.name}: ${textOf(error)}`;
  }
}

/** The filters with `admit`, each under its name. One that throws admits the URL and is logged once. */
export function admissionGates({ filters }: Pick<LoadedPlugins, 'filters'>, log: Log) {
  return filters.flatMap(({ name, extension }) => {
    if (extension.admit === undefined) return [];
    let hasFailed = false;
    const guarded = <Answer>(ask: () => Answer, otherwise: Answer): Answer => {
      try {
        return ask();
      } catch (error) {
        if (!hasFailed) log.warn('a URL filter failed; it admits every URL', { plugin: name, error: textOf(error) });
        hasFailed = true;
        return otherwise;
      }
    };
    return [
      {
        name,
        admit: (url: string) =>
          guarded((): UrlAdmissionVerdict => admissionOf(atOnce('admit', extension.admit?.(url))), ADMIT),
        learn: (url: string) => guarded(() => atOnce('learn', extension.learn?.(url)), undefined),
      },
    ];
  });
}

/** The families of the first filter that names some, under its name; `null`: none does. */
export function sharingGate({ filters }: Pick<LoadedPlugins, 'filters'>, log: Pick<Log, 'warn'>, now: () => number) {
  const found = filters.find(({ extension }) => extension.sharing !== undefined);
  const given = found?.extension.sharing;
  if (found === undefined || given === undefined) return null;
  const { name } = found;
  let hasFailed = false;
  const familiesOf = (url: string): readonly UrlFamily[] => {
    try {
      return atOnce('familiesOf', given.familiesOf(url));
    } catch (error) {
      if (!hasFailed) log.warn('a URL filter failed; it admits every URL', { plugin: name, error: textOf(error) });
      hasFailed = true;
      return [];
    }
  };
  const { growth, trial, maxFamilies, free, demote } = given;
  return { name, now, sharing: { growth, trial, maxFamilies, free, demote, familiesOf } };
}

const ADMIT: UrlAdmissionVerdict = Object.freeze({ admit: true });

function admissionOf(verdict: UrlAdmissionVerdict | undefined): UrlAdmissionVerdict {
  if (typeof verdict?.admit !== 'boolean') throw new TypeError('admit must return {admit: boolean}');
  if (verdict.admit && verdict.demote !== undefined && !(verdict.demote > 0 && verdict.demote < 1)) {
    throw new TypeError(`demote must be above 0 and below 1, not ${String(verdict.demote)}`);
  }
  return verdict.admit && verdict.reason === undefined ? verdict : withShortReason(verdict);
}

/** Reasons are stored with records, and summaries count by them; characters. */
const MAX_REASON = 500;

function withShortReason<Verdict extends { readonly reason?: string }>(verdict: Verdict): Verdict {
  const reason: unknown = verdict.reason;
  if (typeof reason !== 'string') throw new TypeError(`reason must be a string, not ${String(reason)}`);
  return reason.length <= MAX_REASON ? verdict : { ...verdict, reason: `${reason.slice(0, MAX_REASON)}…` };
}
