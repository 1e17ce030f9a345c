import { OPTIONAL_PACKAGES, type OptionalPackageId } from '../../core/domain/optional-packages.ts';
import { findPackage, type PackagePlaces, packagePlaces, pinnedVersion } from '../../core/packages/find-package.ts';
import { tryPackage } from '../../core/packages/load-package.ts';

export interface PackageView {
  readonly id: OptionalPackageId;
  readonly name: string;
  readonly purpose: string;
  /** The version that `incrawl packages install` installs. */
  readonly version: string;
  /** The copy that is used; `null`: none can be. */
  readonly installed: {
    readonly version: string;
    readonly folder: string;
    /** Where it was found: from this package, from the working directory, in the user's folder. */
    readonly place: keyof PackagePlaces;
  } | null;
  /** Copies ahead of it that cannot be used, and why. */
  readonly faults: readonly string[];
}

/** Optional packages with the copies that this process would use. Each is loaded for that. */
export function packageViews(places: PackagePlaces = packagePlaces()): PackageView[] {
  return OPTIONAL_PACKAGES.map(({ id, name, purpose }) => {
    const faults: string[] = [];
    let installed: PackageView['installed'] = null;
    for (const copy of findPackage(id, places)) {
      const tried = tryPackage(id, copy);
      if ('fault' in tried) faults.push(tried.fault);
      else {
        installed = { version: copy.version, folder: copy.root, place: copy.place };
        break;
      }
    }
    return { id, name, purpose, version: pinnedVersion(id), installed, faults };
  });
}
