import { Result } from "effect"
import { IpNetwork, NetAddress } from "effect/net"

/** Returns the network of an IPv6 address, because one customer gets 2^64 addresses. */
export const networkOf = (ip: string): string => {
  const parsed = NetAddress.ipFromString(ip)
  if (Result.isFailure(parsed)) return ip
  const address = NetAddress.toCanonical(parsed.success)
  return NetAddress.isIpv6Address(address)
    ? IpNetwork.format(IpNetwork.fromAddressUnsafe(address, 64))
    : NetAddress.formatIp(address)
}
