import { posix } from 'node:path';
import { readXml } from './read-xml.ts';
import type { ZipParts } from './zip-parts.ts';

export interface Relationship {
  /** Path of a part, or an external address as written. */
  readonly target: string;
  readonly isExternal: boolean;
  /** The end of its type, such as `hyperlink`. */
  readonly type: string;
}

/** What a part of an Office Open XML file refers to, by id (ECMA-376, part 2, 9.3). */
export async function relationshipsOf(parts: ZipParts, part: string): Promise<ReadonlyMap<string, Relationship>> {
  const folder = part === '' ? '' : posix.dirname(part);
  const bytes = await parts.read(posix.join(folder, '_rels', `${posix.basename(part)}.rels`));
  const found = new Map<string, Relationship>();
  if (bytes === null) return found;
  readXml(bytes, {
    open: (name, { Id, Target, TargetMode, Type = '' }) => {
      if (name !== 'Relationship' || Id === undefined || Target === undefined) return;
      const isExternal = TargetMode === 'External';
      const target = isExternal ? Target : posix.resolve('/', folder, Target).slice(1);
      found.set(Id, { target, isExternal, type: Type.slice(Type.lastIndexOf('/') + 1) });
    },
    close: () => {},
  });
  return found;
}

/** Address of a hyperlink; `null`: it is not one, or leads to a place in the document. */
export function addressOf(relationships: ReadonlyMap<string, Relationship>, id: string | undefined): string | null {
  const found = id === undefined ? undefined : relationships.get(id);
  return found?.isExternal === true ? found.target : null;
}
