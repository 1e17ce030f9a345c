import { CrawlError } from '../../domain/errors.ts';
import type { UrlFeatures, UrlFilter } from '../api/plugin-api.ts';
import { textOf } from './resolve-plugin.ts';

interface FeatureSource {
  readonly kind: string;
  readonly name: string;
  readonly extension: object | null;
}

/** Gives each URL filter the features that all of them contribute. */
export function shareFeatures(entries: readonly FeatureSource[]): void {
  const filters = entries.flatMap(({ kind, name, extension }) =>
    kind === 'urlfilter' && extension !== null ? [{ name, extension: extension as UrlFilter }] : [],
  );
  const features: UrlFeatures = Object.assign({}, ...filters.map(({ extension }) => extension.features ?? {}));
  for (const { name, extension } of filters) {
    try {
      extension.useFeatures?.(features);
    } catch (error) {
      throw new CrawlError('config-invalid', `${name}: ${textOf(error)}`, { cause: error });
    }
  }
}
