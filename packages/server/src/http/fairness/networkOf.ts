import { Result } from "effect"
import { IpNetwork, NetAddress } from "effect/net"

/**
 * Returns the /64 network of an IPv6 address, because one customer of a provider gets 2^64
 * addresses. Returns an IPv4 address unchanged.
 */
export const networkOf = (ip: string): string => {
  const parsed = NetAddress.ipFromString(ip)
  if (Result.isFailure(parsed)) return ip
  const address = NetAddress.toCanonical(parsed.success)
  return NetAddress.isIpv6Address(address)
    ? IpNetwork.format(IpNetwork.fromAddressUnsafe(address, 64))
    : NetAddress.formatIp(address)
}
