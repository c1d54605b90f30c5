import { Schema } from "effect"
import { oneOf } from "../shared/oneOf.ts"
import { Timestamp } from "../shared/Timestamp.ts"
import { Scope } from "./Scope.ts"

/** What was used longer ago counts as unused. */
export const usageDays = 90

/** A younger key has not shown yet what it needs: monthly work may not have come up by then. */
export const judgedAfterDays = 30

export const shownAddresses = 10

const UsedAddress = Schema.Struct({
  ip: Schema.String.annotate({
    description: "An IPv4 address, or an IPv6 /64 network.",
    examples: ["203.0.113.7"]
  }),
  last_used_at: Timestamp.annotate({ description: "When the key was last used from there." })
}).annotate({ identifier: "UsedAddress" })

const UsedScope = Schema.Struct({
  scope: Scope,
  last_used_at: Schema.NullOr(Timestamp).annotate({
    description: `To the hour. Null if it was not used in ${usageDays} days.`
  })
}).annotate({ identifier: "UsedScope" })

const Advice = oneOf(["keep", "narrow", "revoke", "wait"], {
  identifier: "ApiKeyAdvice",
  description:
    "`keep`: it uses all its scopes. `narrow`: make a key with `scopes` in its place. `revoke`: " +
    `nobody has used it. \`wait\`: it is younger than ${judgedAfterDays} days.`,
  examples: ["narrow"]
})
export type Advice = typeof Advice.Type

export const ApiKeyUsage = Schema.Struct({
  observed_since: Timestamp.annotate({
    description: `From when on uses are known: ${usageDays} days ago, or when the key was made.`
  }),
  scopes: Schema.Array(UsedScope).annotate({
    description: "The scopes of the key, and when each was used last."
  }),
  addresses: Schema.Array(UsedAddress).annotate({
    description: `Where the key was used from: the last ${shownAddresses}.`
  }),
  refused_addresses: Schema.Array(UsedAddress).annotate({
    description: `Where it was refused because of \`allowed_ips\`: the last ${shownAddresses}.`
  }),
  suggestion: Schema.Struct({
    advice: Advice,
    scopes: Schema.Array(Scope).annotate({ description: "The scopes that it needs." })
  }).annotate({ description: "What to do about the key." })
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
