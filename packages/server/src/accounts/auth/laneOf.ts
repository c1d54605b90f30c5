import { type DerivedKey, mac } from "../../core/index.ts"
import { classify } from "@scheduling/calls/egress/EgressRules"
import { networkOf } from "../../http/index.ts"

/**
 * The lane decides whose turn it is when many runs wait. Its upper half is the share of slots. All
 * accounts registered from one public address are one share, because accounts are free. Any other
 * address belongs to a proxy or a test, so such an account is a share of its own. The lower half is
 * the account.
 *
 * The halves are keyed hashes, so that nobody can search for an address that shares with somebody
 * else.
 */
export const laneOf = (key: DerivedKey, userId: string, ip: string | null): bigint => {
  const account = hashOf(key, `account:${userId}`)
  const address = ip !== null && classify(ip) === "public" ? networkOf(ip) : undefined
  const share = address === undefined ? account : hashOf(key, `address:${address}`)
  return BigInt.asIntN(64, (share << 32n) | account)
}

/** 32 bits. */
const hashOf = (key: DerivedKey, text: string): bigint =>
  BigInt(Buffer.from(mac(key, text), "base64url").readUInt32BE(0))
