import ipaddr from 'ipaddr.js';

/**
 * Whether an address is on the public internet: not this machine, not a private, link-local, carrier or documentation
 * network, also not through an IPv6 form that carries an IPv4 address (K1, K3).
 * @param address IPv4 or IPv6 in any notation; anything else is not public
 */
export function isPublicAddress(address: string): boolean {
  const text = address.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  if (!ipaddr.isValid(text)) return false;
  const parsed = ipaddr.process(text);
  if (parsed.kind() === 'ipv4') return parsed.range() === 'unicast';
  const v6 = parsed as ipaddr.IPv6;
  if (v6.range() === 'rfc6052') {
    // the well-known NAT64 prefix: how networks without IPv4 reach public IPv4 hosts
    const bytes = v6.toByteArray().slice(12);
    return new ipaddr.IPv4(bytes).range() === 'unicast';
  }
  // global unicast is 2000::/3 only: deprecated and local forms elsewhere may still lead inside
  return v6.range() === 'unicast' && (v6.toByteArray()[0]! & 0xe0) === 0x20;
}
