import { Result } from "effect"
import { isIP, isIPv4 } from "node:net"

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

/** An address as a number: 32 bits for IPv4, 128 for IPv6. */
interface Address {
  readonly family: 4 | 6
  readonly value: bigint
}

export interface Cidr extends Address {
  readonly bits: number
}

const width = { 4: 32, 6: 128 } as const

const parseV4 = (text: string): bigint =>
  text.split(".").reduce((value, octet) => (value << 8n) | BigInt(octet), 0n)

const parseV6 = (text: string): bigint => {
  const groups = (half: string): ReadonlyArray<bigint> =>
    half === ""
      ? []
      : half.split(":").flatMap((group) => {
          if (!group.includes(".")) return [BigInt(`0x${group}`)]
          const v4 = parseV4(group)
          return [v4 >> 16n, v4 & 0xffffn]
        })
  const [head = "", tail = ""] = text.split("::")
  const left = groups(head)
  const right = groups(tail)
  const zeros = Array<bigint>(8 - left.length - right.length).fill(0n)
  return [...left, ...zeros, ...right].reduce((value, group) => (value << 16n) | group, 0n)
}

const mappedPrefix = 0xffffn

/** The address, an IPv4-mapped one (`::ffff:a.b.c.d`) as the IPv4 address the kernel will dial. */
const parseAddress = (text: string): Address | undefined => {
  const [ip = ""] = text.split("%")
  if (isIP(ip) === 0) return undefined
  if (isIPv4(ip)) return { family: 4, value: parseV4(ip) }
  const value = parseV6(ip)
  return value >> 32n === mappedPrefix
    ? { family: 4, value: value & 0xffffffffn }
    : { family: 6, value }
}

/** Reads `10.0.0.0/8`, `fd00::/8` or a single address; a failure says what is wrong with it. */
export const parseCidr = (text: string): Result.Result<Cidr, string> => {
  const [ip = "", length, ...rest] = text.trim().split("/")
  const address = ip.includes("%") ? undefined : parseAddress(ip)
  if (address === undefined || rest.length > 0) {
    return Result.fail(`"${text}" is not an IP address or CIDR such as 10.0.0.0/8 or fd00::/8`)
  }
  // A mapped prefix counts from the front of the IPv6 form: ::ffff:10.0.0.0/104 is 10.0.0.0/8.
  const offset = address.family === 4 && !isIPv4(ip) ? 96 : 0
  const maximum = width[address.family]
  const bits = length === undefined ? maximum : Number(length) - offset
  if (length !== undefined && (!/^\d{1,3}$/.test(length) || bits < 0 || bits > maximum)) {
    return Result.fail(
      `"${text}" must have a prefix length from ${offset} to ${maximum + offset} after the slash`
    )
  }
  const cidr = { ...address, bits }
  if (network(address.value, cidr) !== address.value) {
    return Result.fail(
      `"${text}" has bits set after its prefix: a range starts at its first address`
    )
  }
  return Result.succeed(cidr)
}

/** The comma list of `EGRESS_ALLOW`; all mistakes at once. */
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

const network = (value: bigint, cidr: Cidr): bigint => {
  const host = BigInt(width[cidr.family] - cidr.bits)
  return (value >> host) << host
}

const contains = (cidr: Cidr, address: Address): boolean =>
  cidr.family === address.family && network(address.value, cidr) === cidr.value

type Rules = ReadonlyArray<readonly [Cidr, AddressClass]>

const rules = (table: Readonly<Record<string, AddressClass>>): Rules =>
  Object.entries(table).map(([text, name]) => [Result.getOrThrow(parseCidr(text)), name])

/** The first match counts. IANA special-purpose registry, and where clouds keep credentials. */
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
 * Only 2000::/3 is handed out for the public Internet, so anything outside it that is not named
 * here is refused too. 6to4 and Teredo carry an IPv4 address past an IPv4 check and are withdrawn
 * or dying; they are refused whatever they carry.
 */
const v6Rules = rules({
  "fd00:ec2::254/128": "metadata", // AWS
  "fd00:ec2::23/128": "metadata", // AWS EKS pod identity
  "fd20:ce::254/128": "metadata", // GCP
  "::/128": "unspecified",
  "::1/128": "loopback",
  "64:ff9b:1::/48": "private", // NAT64 of the operator's own choosing
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

/** On IPv6-only networks the way to any IPv4 host: judged by the address within. */
const nat64 = Result.getOrThrow(parseCidr("64:ff9b::/96"))

const classOf = (address: Address): AddressClass => {
  if (contains(nat64, address)) return classOf({ family: 4, value: address.value & 0xffffffffn })
  const table = address.family === 4 ? v4Rules : v6Rules
  const rule = table.find(([cidr]) => contains(cidr, address))
  return rule?.[1] ?? (address.family === 4 ? "public" : "reserved")
}

/** What kind of address this is; text that is no IP address counts as reserved. */
export const classify = (ip: string): AddressClass => {
  const address = parseAddress(ip)
  return address === undefined ? "reserved" : classOf(address)
}

/**
 * Whether a call may go to the address. A range in `EGRESS_ALLOW` opens what lies in it, but a
 * metadata address only when it is listed by itself: 0.0.0.0/0 or a VPN's 100.64.0.0/10 is not a
 * wish to hand out the machine's cloud credentials.
 */
export const isAllowed = (ip: string, allow: ReadonlyArray<Cidr>): boolean => {
  const address = parseAddress(ip)
  if (address === undefined) return false
  const name = classOf(address)
  if (name === "public") return true
  return allow.some(
    (cidr) =>
      contains(cidr, address) && (name !== "metadata" || cidr.bits === width[address.family])
  )
}
