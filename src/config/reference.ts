import { FIELDS, type FieldMeta } from './fields.ts';
import { HOST_KEYS } from './hosts/host-keys.ts';
import { asWritten, CONFIG_KEYS } from './keys.ts';

/** One row of the table of configuration keys in docs/reference/configuration.md. */
export interface ConfigReferenceRow {
  readonly key: string;
  readonly type: string;
  /** As an operator would write it in YAML. */
  readonly default: string;
  /** What a bare number would count in the `Config` object: `ms`, `bytes`, `URLs`; empty without one. */
  readonly unit: string;
  readonly limits: string;
  readonly prose: string;
}

/** All keys in the order of the schema; documentation is made from it, so that it cannot fall behind. */
export function configReference(): ConfigReferenceRow[] {
  return [...CONFIG_KEYS.values()].map((key) => ({
    key: key.key,
    type: key.meta.type,
    default: key.key === 'agent.version' ? "the package's" : inYaml(asWritten(key, key.defaultValue)),
    unit: key.meta.unit,
    limits: key.meta.limits,
    prose: key.meta.prose,
  }));
}

/** The keys of an entry of `hosts:`, none of which has a default. */
export function hostReference(): Omit<ConfigReferenceRow, 'default'>[] {
  return Object.entries(HOST_KEYS).map(([key, leaf]) => {
    const { type, unit, limits, prose } = FIELDS.get(leaf) as FieldMeta;
    return { key, type, unit, limits, prose };
  });
}

/** A value as an operator writes it. */
export function inYaml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.join(', ')}]`;
  return value === '' ? "''" : String(value);
}
