import { Schema } from "effect"
import { oneOf } from "../shared/oneOf.ts"
import { Timestamp } from "../shared/Timestamp.ts"
import { Scope } from "./Scope.ts"

/** The number of days after which a scope counts as unused. */
export const keyUsageDays = 90

/**
 * The minimum age in days of a key to give advice about it. A younger key may not have run monthly
 * jobs yet.
 */
export const minKeyAgeForAdviceDays = 30

export const maxListedAddresses = 10

const UsedAddress = Schema.Struct({
  ip: Schema.String.annotate({
    description: "An IPv4 address, or an IPv6 /64 network.",
    examples: ["203.0.113.7"]
  }),
  last_used_at: Timestamp.annotate({ description: "When the key was last used from this address." })
}).annotate({ identifier: "UsedAddress" })

const UsedScope = Schema.Struct({
  scope: Scope,
  last_used_at: Schema.NullOr(Timestamp).annotate({
    description: `When the scope was last used, to the hour. Null if it was not used in ${keyUsageDays} days.`
  })
}).annotate({ identifier: "UsedScope" })

const Advice = oneOf(["keep", "narrow", "revoke", "wait"], {
  identifier: "ApiKeyAdvice",
  description:
    "`keep`: the key uses all its scopes. `narrow`: replace the key with one that has only `scopes`. `revoke`: " +
    `the key is unused. \`wait\`: the key is younger than ${minKeyAgeForAdviceDays} days.`,
  examples: ["narrow"]
})
export type Advice = typeof Advice.Type

export const ApiKeyUsage = Schema.Struct({
  observed_since: Timestamp.annotate({
    description: `The start of the observation period: ${keyUsageDays} days ago, or when the key was created.`
  }),
  scopes: Schema.Array(UsedScope).annotate({
    description: "The scopes of the key, with the last use of each."
  }),
  addresses: Schema.Array(UsedAddress).annotate({
    description: `The last ${maxListedAddresses} addresses from which the key was used.`
  }),
  refused_addresses: Schema.Array(UsedAddress).annotate({
    description:
      `The last ${maxListedAddresses} addresses from which the key was rejected ` +
      "because of `allowed_ips`."
  }),
  suggestion: Schema.Struct({
    advice: Advice,
    scopes: Schema.Array(Scope).annotate({ description: "The scopes that the key needs." })
  }).annotate({ description: "Advice about the scopes of the key." })
}).annotate({
  identifier: "ApiKeyUsage",
  examples: [
    {
      observed_since: "2026-01-31T09:30:00.000Z",
      scopes: [
        { scope: "tasks:read", last_used_at: "2026-03-31T09:00:00.000Z" },
        { scope: "tasks:write", last_used_at: null }
      ],
      addresses: [{ ip: "203.0.113.7", last_used_at: "2026-03-31T09:00:00.000Z" }],
      refused_addresses: [],
      suggestion: { advice: "narrow", scopes: ["tasks:read"] }
    }
  ]
})
export type ApiKeyUsage = typeof ApiKeyUsage.Type
