import { CrawlError } from '../../domain/errors.ts';
import type { UrlScope } from '../../domain/url/canonical/url-key.ts';
import type { PluginList } from './plugin-list.ts';

/** The normalisers of each scope that the list names, in its order. Throws `config-invalid` for an unknown name. */
export function scopedNormalizers<Normalizer extends { readonly name: string }>(
  normalizers: readonly Normalizer[],
  scopes: NonNullable<PluginList['scopes']>,
): Map<UrlScope, readonly Normalizer[]> {
  return new Map(
    (Object.entries(scopes) as [UrlScope, readonly string[]][]).map(([scope, names]) => [
      scope,
      names.map((name) => {
        const found = normalizers.find((each) => each.name === name);
        if (found !== undefined) return found;
        const known = normalizers.map((each) => each.name).join(', ') || 'none';
        throw new CrawlError(
          'config-invalid',
          `scopes.${scope}: ${name} is no URL normalizer of the list of plugins; those are: ${known}`,
        );
      }),
    ]),
  );
}
