import { Result } from "effect"
import { IpNetwork, NetAddress } from "effect/net"

export type AddressClass =
  | "public"
  | "unspecified"
  | "loopback"
  | "private"
  | "link-local"
  | "cgnat"
  | "multicast"
  | "documentation"
  | "metadata"
  | "reserved"

export type Cidr = IpNetwork.IpNetwork

/**
 * Parses an address and removes its zone. An IPv4-mapped address (`::ffff:a.b.c.d`) becomes the
 * IPv4 address that the kernel dials.
 */
const addressOf = (text: string): NetAddress.IpAddress | undefined => {
  const [ip = ""] = text.split("%")
  const address = NetAddress.ipFromString(ip)
  return Result.isSuccess(address) ? NetAddress.toCanonical(address.success) : undefined
}

/** Parses `10.0.0.0/8`, `fd00::/8` or a single address. Fails with a description of the problem. */
export const parseCidr = (text: string): Result.Result<Cidr, string> => {
  const [ip = "", length, ...rest] = text.trim().split("/")
  const address = ip.includes("%") ? undefined : addressOf(ip)
  if (address === undefined || rest.length > 0) {
    return Result.fail(`"${text}" is not an IP address or CIDR such as 10.0.0.0/8 or fd00::/8`)
  }
  const maximum = NetAddress.width(address)
  // The prefix length of a mapped address refers to its IPv6 form: ::ffff:10.0.0.0/104 is
  // 10.0.0.0/8.
  const offset = maximum === 32 && ip.includes(":") ? 96 : 0
  const bits = length === undefined ? maximum : Number(length) - offset
  if (length !== undefined && (!/^\d{1,3}$/.test(length) || bits < 0 || bits > maximum)) {
    return Result.fail(
      `"${text}" must have a prefix length from ${offset} to ${maximum + offset} after the slash`
    )
  }
  return Result.mapError(
    IpNetwork.make(address, bits),
    () => `"${text}" has bits set after its prefix: a range starts at its first address`
  )
}

/** Parses the comma-separated `EGRESS_ALLOW` and reports all problems together. */
export const parseCidrs = (text: string): Result.Result<ReadonlyArray<Cidr>, string> => {
  const parts = text.split(",").filter((part) => part.trim() !== "")
  const failures: Array<string> = []
  const cidrs: Array<Cidr> = []
  for (const part of parts) {
    const cidr = parseCidr(part)
    if (Result.isSuccess(cidr)) cidrs.push(cidr.success)
    else failures.push(cidr.failure)
  }
  return failures.length === 0 ? Result.succeed(cidrs) : Result.fail(failures.join("; "))
}

type Rules = ReadonlyArray<readonly [Cidr, AddressClass]>

const rules = (table: Readonly<Record<string, AddressClass>>): Rules =>
  Object.entries(table).map(([text, name]) => [IpNetwork.fromStringUnsafe(text), name])

/**
 * The IANA special-purpose registry and the metadata addresses of cloud providers. The first
 * matching rule applies.
 */
const v4Rules = rules({
  "169.254.169.254/32": "metadata", // AWS, GCP, Azure, DigitalOcean, Oracle, Hetzner
  "169.254.170.2/32": "metadata", // AWS ECS task credentials
  "169.254.170.23/32": "metadata", // AWS EKS pod identity
  "100.100.100.200/32": "metadata", // Alibaba, inside the CGNAT range
  "168.63.129.16/32": "metadata", // Azure's wire server, outside every special range
  "192.0.0.192/32": "metadata", // Oracle Cloud at Customer
  "0.0.0.0/8": "unspecified", // Linux dials 0.0.0.0 as localhost
  "10.0.0.0/8": "private",
  "100.64.0.0/10": "cgnat",
  "127.0.0.0/8": "loopback",
  "169.254.0.0/16": "link-local",
  "172.16.0.0/12": "private",
  "192.0.0.0/24": "reserved",
  "192.0.2.0/24": "documentation",
  "192.88.99.0/24": "reserved", // 6to4 relays, withdrawn
  "192.168.0.0/16": "private",
  "198.18.0.0/15": "reserved", // benchmarking
  "198.51.100.0/24": "documentation",
  "203.0.113.0/24": "documentation",
  "224.0.0.0/4": "multicast",
  "240.0.0.0/4": "reserved"
})

/**
 * Only 2000::/3 is allocated for the public Internet, so an address outside of it that is not listed
 * here is rejected too. The IPv4 check would not see an IPv4 address inside a 6to4 or Teredo address.
 * Both protocols are obsolete, so these addresses are always rejected.
 */
const v6Rules = rules({
  "fd00:ec2::254/128": "metadata", // AWS
  "fd00:ec2::23/128": "metadata", // AWS EKS pod identity
  "fd20:ce::254/128": "metadata", // GCP
  "::/128": "unspecified",
  "::1/128": "loopback",
  "64:ff9b:1::/48": "private", // NAT64 with a prefix of the operator's network
  "2001::/23": "reserved", // protocol assignments, Teredo and ORCHID among them
  "2001:db8::/32": "documentation",
  "2002::/16": "reserved", // 6to4
  "3fff::/20": "documentation",
  "2000::/3": "public",
  "fc00::/7": "private",
  "fe80::/10": "link-local",
  "fec0::/10": "private", // site-local, the forerunner of fc00::/7
  "ff00::/8": "multicast"
})

/**
 * On IPv6-only networks, addresses with this prefix reach any IPv4 host, so the embedded IPv4
 * address is classified.
 */
const nat64 = IpNetwork.fromStringUnsafe("64:ff9b::/96")

const classOf = (address: NetAddress.IpAddress): AddressClass => {
  if (NetAddress.isIpv4Address(address)) return firstMatch(v4Rules, address) ?? "public"
  if (IpNetwork.contains(nat64, address)) {
    const embedded = Uint8Array.from(NetAddress.ipv6ToOctets(address).slice(12))
    return classOf(NetAddress.ipv4FromBytesUnsafe(embedded))
  }
  return firstMatch(v6Rules, address) ?? "reserved"
}

const firstMatch = (table: Rules, address: NetAddress.IpAddress) =>
  table.find(([network]) => IpNetwork.contains(network, address))?.[1]

/** Returns the class of an address. Text that is not an IP address counts as reserved. */
export const classifyAddress = (ip: string): AddressClass => {
  const address = addressOf(ip)
  return address === undefined ? "reserved" : classOf(address)
}

/**
 * Returns whether calls may reach an address. A range in `EGRESS_ALLOW` allows every address in it
 * except metadata addresses. Those must be listed one by one: an operator who allows 0.0.0.0/0 or a
 * VPN's 100.64.0.0/10 does not intend to expose the machine's cloud credentials.
 */
export const isAddressAllowed = (ip: string, allow: ReadonlyArray<Cidr>): boolean => {
  const address = addressOf(ip)
  if (address === undefined) return false
  const name = classOf(address)
  if (name === "public") return true
  return allow.some(
    (network) =>
      IpNetwork.contains(network, address) &&
      (name !== "metadata" || network.prefixLength === NetAddress.width(address))
  )
}
