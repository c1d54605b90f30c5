import { parseCallUrl } from "@scheduling/domain/calls/CallUrl"
import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { issueAt } from "@scheduling/domain/shared/ValidationIssue"
import type { RunOn } from "@scheduling/domain/workers/RunOn"
import { Effect, Result } from "effect"
import { isIP } from "node:net"
import { EgressAllow } from "./Egress.ts"
import { type Cidr, classifyAddress, isAddressAllowed } from "./EgressRules.ts"
import { OwnEchoUrl } from "../exchange/OwnEchoUrl.ts"

interface Target {
  readonly path: ReadonlyArray<string | number>
  readonly url: string
  /**
   * The workers that may make the call. If set, the egress rules of the worker apply instead of
   * those of this node.
   */
  readonly run_on?: RunOn | null
}

/**
 * Rejects targets that are certain to fail: URLs with an address that this node may not call. Names
 * are resolved only when the call is made, and every address is checked then.
 */
export const forbiddenTargetCheck = Effect.gen(function* () {
  const allow = yield* EgressAllow
  const ownEcho = yield* OwnEchoUrl
  return (targets: ReadonlyArray<Target>): Effect.Effect<void, ValidationFailed> => {
    const issues = targets.flatMap(({ path, run_on = null, url }) => {
      if (run_on !== null) return []
      const problem = targetProblem(url, allow, ownEcho)
      return problem === undefined ? [] : [issueAt(path, "invalid", problem)]
    })
    return issues.length === 0 ? Effect.void : Effect.fail(new ValidationFailed({ issues }))
  }
})

/** Returns the problem with the host of a URL, if any. */
const targetProblem = (
  text: string,
  allow: ReadonlyArray<Cidr>,
  ownEcho: string | undefined
): string | undefined => {
  const parsed = parseCallUrl(text)
  if (Result.isFailure(parsed)) return undefined
  const url = parsed.success
  if (url.origin + url.pathname + url.search === ownEcho) return undefined
  const host = url.hostname.replace(/^\[|\]$/g, "")
  const addresses = isLocalName(host) ? ["127.0.0.1", "::1"] : isIP(host) === 0 ? [] : [host]
  const [first] = addresses
  if (first === undefined || addresses.some((address) => isAddressAllowed(address, allow))) {
    return undefined
  }
  return (
    `must not lead to ${host} (${classifyAddress(first)}), which this service may not call; ` +
    "its operator can allow networks with EGRESS_ALLOW"
  )
}

/** RFC 6761: these names always mean the machine itself. */
const isLocalName = (host: string): boolean => /^(?:.+\.)?localhost\.?$/i.test(host)
