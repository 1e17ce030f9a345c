/** A `srcset` with its addresses replaced, parsed as HTML says ("parse a srcset attribute"); descriptors are kept. */
export function withSrcsetAddresses(srcset: string, replaced: (address: string) => string | null): string {
  let out = '';
  let at = 0;
  const taken = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const text = pattern.exec(srcset)?.[0] ?? '';
    at += text.length;
    return text;
  };
  while (at < srcset.length) {
    out += taken(SEPARATORS);
    const run = taken(RUN);
    // A comma at the end of an address ends its candidate; one within it is part of the address.
    const address = run.replace(/,+$/, '');
    out += (address === '' ? null : encoded(replaced(address))) ?? address;
    out += run.slice(address.length);
    if (address === run) out += taken(DESCRIPTORS);
  }
  return out;
}

const SEPARATORS = /[\s,]*/y;
const RUN = /[^\s]*/y;
/** Up to the comma that ends the candidate: one within brackets does not. */
const DESCRIPTORS = /(?:[^,(]|\([^)]*\)?)*/y;

/** White space would end an address, and a comma at its ends would be taken for a separator. */
const encoded = (address: string | null): string | null =>
  address?.replace(/\s/g, (char) => encodeURIComponent(char)).replace(/^,|,$/g, '%2C') ?? null;
