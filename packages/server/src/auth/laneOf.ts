import { type DerivedKey, mac } from "../platform/Secrets.ts"
import { classify } from "../runner/EgressRules.ts"
import { networkOf } from "../platform/networkOf.ts"

/**
 * Whose turn it is where the runs of many wait. The upper half says who shares slots: accounts are
 * free, so those that were registered from one public address are one share. Any other address is a
 * proxy's or a test's and says nothing. The lower half is the account.
 *
 * Hashed with a key, so that nobody finds an address that shares with somebody else.
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
