import { canonicalEmail } from "@scheduling/domain/auth/emailAddress"
import { Effect, Option, Result } from "effect"
import { HttpServerRequest } from "effect/http"
import { IpNetwork, NetAddress } from "effect/net"
import { NodeHttpServerRequest } from "@effect/platform-node"
import type { AppConfig } from "../../core/index.ts"

/**
 * Returns the email of the person whom the authenticating proxy names. Returns undefined if the
 * request did not come from a trusted proxy, or does not name exactly one person.
 */
export const proxiedEmail = ({
  authProxyHeader,
  trustProxy
}: Pick<AppConfig["Service"], "authProxyHeader" | "trustProxy">): Effect.Effect<
  string | undefined,
  never,
  HttpServerRequest.HttpServerRequest
> =>
  authProxyHeader === undefined
    ? Effect.succeed(undefined)
    : Effect.map(HttpServerRequest.HttpServerRequest, (request) => {
        // Only the connection's address is checked. `X-Forwarded-For` names clients, and a client
        // could send that header itself.
        const peer = addressOf(Option.getOrUndefined(request.peerAddress))
        if (peer === undefined) return undefined
        if (!trustProxy.some((network) => IpNetwork.contains(network, peer))) return undefined
        const { rawHeaders } = NodeHttpServerRequest.toIncomingMessage(request)
        const values = rawHeaders.filter(
          (_, index) =>
            index % 2 === 1 &&
            rawHeaders[index - 1]?.toLowerCase() === authProxyHeader.toLowerCase()
        )
        // If there are two values, the client may have sent one of them.
        return values.length === 1 ? canonicalEmail(values[0] ?? "") : undefined
      })

const addressOf = (text = "") => {
  const address = NetAddress.ipFromString(text)
  return Result.isSuccess(address) ? NetAddress.toCanonical(address.success) : undefined
}
