import { type DerivedKey, mac } from "../../core/index.ts"
import { classify } from "@scheduling/calls/egress/EgressRules"
import { networkOf } from "../../http/index.ts"

/**
 * Derives the lane of an account, the number by which accounts take turns. The upper half stands
 * for a public IP address: accounts that were registered from one address share its turns, because
 * anybody can register many accounts. An account registered from a private address has an upper
 * half of its own, because many people can use the same proxy. The lower half stands for the
 * account. Both halves are keyed hashes, so that nobody can choose the lane of another account.
 */
export const deriveLane = (key: DerivedKey, userId: string, ip: string | null): bigint => {
  const account = hashOf(key, `account:${userId}`)
  const address = ip !== null && classify(ip) === "public" ? networkOf(ip) : undefined
  const group = address === undefined ? account : hashOf(key, `address:${address}`)
  return BigInt.asIntN(64, (group << 32n) | account)
}

const hashOf = (key: DerivedKey, text: string): bigint =>
  BigInt(Buffer.from(mac(key, text), "base64url").readUInt32BE(0))
