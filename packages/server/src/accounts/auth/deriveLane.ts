import { type DerivedKey, mac } from "../../core/index.ts"
import { classifyAddress } from "@scheduling/calls/egress/EgressRules"
import { networkOf } from "../../http/index.ts"

/**
 * Derives an account's lane, a number that is used to serve accounts in turn. Its upper half
 * identifies a public IP address: accounts registered from one address are served as one, because
 * anybody can register many accounts. Accounts registered from a private address each have their
 * own upper half, because many people can use the same proxy. The lower half identifies the
 * account. Both halves are keyed hashes, so that nobody can choose another account's lane.
 */
export const deriveLane = (key: DerivedKey, userId: string, ip: string | null): bigint => {
  const account = hashOf(key, `account:${userId}`)
  const address = ip !== null && classifyAddress(ip) === "public" ? networkOf(ip) : undefined
  const group = address === undefined ? account : hashOf(key, `address:${address}`)
  return BigInt.asIntN(64, (group << 32n) | account)
}

const hashOf = (key: DerivedKey, text: string): bigint =>
  BigInt(Buffer.from(mac(key, text), "base64url").readUInt32BE(0))
