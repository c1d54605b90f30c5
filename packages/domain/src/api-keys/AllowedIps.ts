import { Result, Schema } from "effect"
import { IpNetwork, NetAddress } from "effect/net"

const ipv4InIpv6 = IpNetwork.fromStringUnsafe("::ffff:0:0/96")

/** Parses `203.0.113.0/24`, `2001:db8::/32` or an individual address. */
export const parseNetwork = (text: string): IpNetwork.IpNetwork | undefined => {
  const network = text.includes("/")
    ? IpNetwork.fromString(text)
    : Result.map(NetAddress.ipFromString(text), (address) =>
        IpNetwork.fromAddressUnsafe(address, NetAddress.width(address))
      )
  // A request from an IPv4-mapped IPv6 address is compared as IPv4, so a network of such addresses
  // would never match.
  if (Result.isFailure(network) || isMapped(network.success)) return undefined
  return network.success
}

const isMapped = (network: IpNetwork.IpNetwork) =>
  IpNetwork.isIpv6Network(network) && IpNetwork.containsNetwork(ipv4InIpv6, network)

const AllowedIp = Schema.String.check(
  Schema.makeFilter((text) => text.length <= 43 && parseNetwork(text) !== undefined, {
    expected: "an IP address, or a network in CIDR notation such as 203.0.113.0/24"
  })
).annotate({ examples: ["203.0.113.0/24"] })

export const AllowedIps = Schema.Array(AllowedIp).check(
  Schema.isBetweenLength(1, 20),
  Schema.isUnique({ expected: "each network once" })
)
