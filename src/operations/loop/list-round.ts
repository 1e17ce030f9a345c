import { domainOf } from '../../adapters/system/domain-of.ts';
import { dayBoundsByHost } from '../../config/hosts/host-bounds.ts';
import { partitionOf } from '../../domain/url/hash/partition.ts';
import { applyUrlChain } from '../../plugin-host/url-chain.ts';
import { generateFromList } from '../../steps/generate/generate-from-list.ts';
import type { SeedSource } from '../../steps/inject.ts';
import type { GenerateSummary } from '../../steps/summaries.ts';
import type { CrawlDeps } from '../deps.ts';

export interface ListStepOptions {
  /** Whether the URL filters judge the list. Default: false, as it names what is wanted. */
  readonly filter?: boolean;
  /** Whether the URL normalisers run on it; the canonical form is made in any case. Default: false. */
  readonly normalize?: boolean;
  readonly dryRun?: boolean;
}

/** Makes a segment of a list of URLs. */
export function listRound(
  deps: Pick<CrawlDeps, 'config' | 'runtime' | 'plugins' | 'segments' | 'store'>,
  sources: readonly SeedSource[],
  { filter = false, normalize = false, dryRun = false }: ListStepOptions = {},
): Promise<GenerateSummary> {
  const { config, segments } = deps;
  const { clock, random } = deps.runtime;
  const { loaded } = deps.plugins;
  const { db, seedHosts } = deps.store();
  const { normalizers, scopes, filters, exemptions } = loaded;
  const chain = {
    ...(normalize ? { normalizers, scopes } : { normalizers: [] }),
    ...(filter ? { filters, exemptions } : { filters: [] }),
  };
  const list = {
    db,
    segments,
    clock,
    random,
    seedHosts,
    urls: { apply: (url: string, context: Parameters<typeof applyUrlChain>[2]) => applyUrlChain(chain, url, context) },
    seedScore: (url: string) => loaded.scoring?.seedScore(url) ?? 1,
    partition: (host: string) => partitionOf(config.partition.by === 'domain' ? domainOf(host) : host),
  };
  return generateFromList(list, sources, {
    ...{ auditShare: config.fetch.auditShare, dryRun, dayBoundOf: dayBoundsByHost(config) },
  });
}
