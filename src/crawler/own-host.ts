import { isAddressBlocked } from '../core/adapters/http/guard/address-guard.ts';
import type { Config } from '../core/config/schema.ts';

/** Whether a host has a private address, which the operator must allow, or is on the allow list. */
export function isOwnHost(host: string, allowed: Config['http']['allowAddresses']): boolean {
  const name = host.replace(/:\d+$/, '');
  return allowed.includes(host) || allowed.includes(name) || isAddressBlocked(`http://${host}/`);
}
