import type { Config } from '../core/config/schema.ts';
import { isAddressBlocked } from '../http/guard/address-guard.ts';

/** Whether a host has a private address, which the operator must allow, or is on the allow list. */
export function isOwnHost(host: string, allowed: Config['http']['allowAddresses']): boolean {
  const name = host.replace(/:\d+$/, '');
  return allowed.includes(host) || allowed.includes(name) || isAddressBlocked(`http://${host}/`);
}
