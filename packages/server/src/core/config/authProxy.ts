import type { Cidr } from "@scheduling/calls/egress/EgressRules"
import { Schema } from "effect"
import { IpNetwork } from "effect/net"

/**
 * The name of a header. Headers that already have another meaning, such as `host`, are rejected.
 */
export const ProxyHeader = Schema.String.check(
  Schema.makeFilter(
    (text) =>
      /^[a-z0-9][a-z0-9-]{0,63}$/i.test(text) &&
      !/^(?:authorization|cookie|host|origin|content-.*|x-forwarded-(?:for|host|proto)|x-panel)$/i.test(
        text
      ),
    { expected: "the name of a header such as X-Auth-Request-Email" }
  )
)

/**
 * Returns an error message if the settings would let somebody other than the proxy set its header.
 */
export const authProxyProblem = ({
  authProxyHeader,
  egressAllow,
  trustProxy
}: {
  readonly authProxyHeader: string | undefined
  readonly egressAllow: ReadonlyArray<Cidr>
  readonly trustProxy: ReadonlyArray<Cidr>
}): string | undefined => {
  if (authProxyHeader === undefined) return undefined
  if (trustProxy.length === 0) {
    return "AUTH_PROXY_HEADER needs TRUST_PROXY with the addresses of the proxy"
  }
  // A task that calls its own node uses the node's address. If the node trusted this address as a
  // proxy, the task could set the header.
  const shared = trustProxy.find((proxy) =>
    egressAllow.some(
      (target) =>
        IpNetwork.containsNetwork(target, proxy) || IpNetwork.containsNetwork(proxy, target)
    )
  )
  return shared === undefined
    ? undefined
    : `AUTH_PROXY_HEADER: TRUST_PROXY and EGRESS_ALLOW must not overlap (${IpNetwork.format(shared)}), because a task could pretend to be the proxy`
}
