import { parseNetwork } from "@scheduling/domain/api-keys/AllowedIps"
import { Result } from "effect"
import { IpNetwork, NetAddress } from "effect/net"

/** Returns whether a key may be used from the address. An unknown address is never allowed. */
export const isAllowedFrom = (
  ip: string | null,
  allowed: ReadonlyArray<string> | null
): boolean => {
  if (allowed === null) return true
  const parsed = NetAddress.ipFromString(ip ?? "")
  if (Result.isFailure(parsed)) return false
  const address = NetAddress.toCanonical(parsed.success)
  return allowed.some((text) => {
    const network = parseNetwork(text)
    return network !== undefined && IpNetwork.contains(network, address)
  })
}
