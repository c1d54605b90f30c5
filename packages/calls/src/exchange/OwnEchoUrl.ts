import { Context } from "effect"

export const echoPath = "/v1/echo"

/**
 * The URL of this node's own `/v1/echo`. Tasks may call it although it is on this machine, so that
 * a first task works without `EGRESS_ALLOW` and without a network. The whole URL is compared, so
 * that no other path, port or spelling is allowed. Undefined if the node does not listen on
 * 127.0.0.1.
 */
export const OwnEchoUrl = Context.Reference<string | undefined>(
  "@scheduling/calls/exchange/OwnEchoUrl",
  {
    defaultValue: () => undefined
  }
)

/** Returns the echo URL for the URL on which the node listens. */
export const ownEchoUrlOf = (listening: string): string | undefined => {
  const { hostname, port } = new URL(listening)
  return coversLoopback.has(hostname)
    ? new URL(echoPath, `http://127.0.0.1:${port}`).href
    : undefined
}

const coversLoopback: ReadonlySet<string> = new Set(["127.0.0.1", "0.0.0.0", "[::]"])
