/** `org` of `www.example.org:8080`; an address, which has no labels, is its own. */
export function topLevelDomain(host: string): string {
  const name = host.replace(/:\d+$/, '');
  const label = name.slice(name.lastIndexOf('.') + 1);
  return /^\d*$|\]$/.test(label) ? name : label;
}
