import { Result } from "effect"
import { IpNetwork, NetAddress } from "effect/net"

/** One customer gets 2^64 addresses of IPv6, so the network is counted, not the address. */
export const networkOf = (ip: string): string => {
  const parsed = NetAddress.ipFromString(ip)
  if (Result.isFailure(parsed)) return ip
  const address = NetAddress.toCanonical(parsed.success)
  return NetAddress.isIpv6Address(address)
    ? IpNetwork.format(IpNetwork.fromAddressUnsafe(address, 64))
    : NetAddress.formatIp(address)
}
