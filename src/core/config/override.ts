import { createRequire } from 'node:module';
import { findKey } from './keys.ts';
import type { Setting } from './yaml-settings.ts';

/** A setting from the command line. `origin` is shown in complaints: `-D`, `--delay`. */
export interface Override {
  readonly key: string;
  /** Text as typed, or a value ready for the schema. */
  readonly value: unknown;
  readonly origin: string;
}

/** `fetch.delay=0` of the option `-D`; a text without `=` is given back as a complaint. */
export function parseOverride(text: string): Override | { readonly error: string } {
  const equals = text.indexOf('=');
  if (equals < 1) return { error: `-D ${text}: expected key=value, such as -D fetch.delay=2s` };
  return { key: text.slice(0, equals).trim(), value: text.slice(equals + 1), origin: '-D' };
}

/** Text from a command line has no types: the kind of the key says how it is read. */
export function settingOf(override: Override): Setting {
  const { key, value, origin } = override;
  const kind = key === 'hosts' ? 'record' : findKey(key)?.key.meta.kind;
  const read = typeof value === 'string' ? readAs(kind, value) : value;
  return { key, value: read, origin, keyOrigin: origin };
}

function readAs(kind: string | undefined, text: string): unknown {
  if (kind === 'texts' || kind === 'durations') {
    const list = /^\s*\[.*\]\s*$/.test(text) ? scalarOf(text) : undefined;
    if (Array.isArray(list)) return list;
    return text.split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]));
  }
  return ['integer', 'number', 'flag', 'record'].includes(kind ?? '') ? scalarOf(text) : text;
}

function scalarOf(text: string): unknown {
  // Loaded for the option that needs it, not for every command.
  const { parse } = createRequire(import.meta.url)('yaml') as typeof import('yaml');
  try {
    return parse(text);
  } catch {
    return text;
  }
}
